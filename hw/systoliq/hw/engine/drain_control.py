"""Drain control: position, in step with the sums that leave the engine's array, of each sum."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ..block_ram import BlockRam
from ..delay import delay
from ..hierarchy import place
from ..multiplier import Multiplier
from .config import EngineConfig
from .loop import Countdown

__all__ = ["DrainControl", "RowContext", "drain_step", "lane_step"]


def drain_step(config: EngineConfig) -> data.StructLayout:
    """Description of the sum that a lane reads in a cycle.

    ``column_sum``: the sum is in the first slot: the sum of a column of B or nothing. ``push``: the sum is a result of
    Y. ``step``: index of the column in the lane. ``entry``: the column's place in the lane's constant table, ahead by
    the table's read latency. ``columns``: how many of the lanes have a column of Y in this cycle. ``tile_last`` and
    ``last``: the tile's or job's last cycle with a result.
    """
    return data.StructLayout(
        {
            "column_sum": 1,
            "push": 1,
            "step": unsigned((config.interval - 1).bit_length()),
            "entry": unsigned((config.table_words - 1).bit_length()),
            "columns": unsigned(config.lanes.bit_length()),
            "tile_last": 1,
            "last": 1,
        }
    )


def lane_step(config: EngineConfig, *names: str) -> data.StructLayout:
    """The fields of a `drain_step` that a lane needs."""
    fields = drain_step(config).members
    return data.StructLayout({name: fields[name] for name in names})


RowContext = data.StructLayout({"zero_point": signed(8), "k_zero_point": signed(24)})
"""Zero point of a row of A, and K times it."""


class DrainControl(wiring.Component):
    """Follows the tiles of a job through the drain: the first slot, then the rows, ``interval`` cycles each.

    The first slot has the column sums and is as long as a row; of float8 it has nothing and takes a cycle.

    ``begin`` comes before a job's first token, when M, K and N have been steady for a cycle. ``step`` describes a sum
    ``latency`` cycles after the token ``start`` reached its slot: for a token in cycle t, the first slot begins in
    ``t + latency``. ``row`` is valid a cycle before the first step of each row. Tiles are counted, in the order of
    `Tiler`. With the job's last result the walk is over: from the cycle after that, which is before the result itself
    can leave the lanes, nothing here depends on M, K or N any more.

    A tile has up to ``rows`` rows. Without ``per_slot``, one token announces a tile: the first slot and one slot per
    row. With ``per_slot``, each slot has its own token.

    ``first_column`` and ``first_row`` say where the job's entries of the column tables and of the row table begin; both
    are rings.

    The row table is written by ``row_write``, ``row_address``, ``row_value``. There are no rows' contexts of float8.
    """

    kind = "drain_control"

    def __init__(self, config: EngineConfig, *, rows: int, per_slot: bool) -> None:
        self.config = config
        self.rows = rows
        self.per_slot = per_slot
        self._table = BlockRam(signed(8), depth=config.max_rows, cells=config.cells)
        self._multiplier = Multiplier(8, 17, cells=config.zero_point_cells, pipelined=config.pipelined)
        ports = {
            "begin": In(1),
            "start": In(1),
            "m": In(16),
            "k": In(16),
            "n": In(16),
            "first_column": In(range(config.table_words)),
            "first_row": In(range(config.max_rows)),
            "per_row": In(1),
            "zero_point": In(signed(8)),
            "row_write": In(1),
            "row_address": In(range(config.max_rows)),
            "row_value": In(signed(8)),
            "step": Out(drain_step(config)),
            "row": Out(RowContext),
        }
        walk = ("begin", "start", "m", "n", "first_column", "step")
        super().__init__({name: ports[name] for name in walk} if config.float8 else ports)

    @staticmethod
    def latency_of(config: EngineConfig) -> int:
        """Register of the token, row table, [choice of the zero point,] K times it, a register behind ``row``.

        Of float8 the column table takes the row table's time, behind a register of its address.
        """
        if config.float8:
            return 2 + BlockRam.latency_of(config.cells)
        product = Multiplier.latency_of(config.zero_point_cells, pipelined=config.pipelined)
        return 1 + BlockRam.latency_of(config.cells) + config.pipelined + product + 1

    @staticmethod
    def ahead_of(config: EngineConfig) -> int:
        """Cycles by which a step's ``entry`` comes early: those that the constant table takes."""
        return BlockRam.latency_of(config.cells)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        now, row = self._walk(m)
        chosen = None if self.config.float8 else self._zero_point(m, platform, row)
        latency = self.latency_of(self.config) - 1  # from ``now``
        step = data.View(now.shape(), delay(m, Value.cast(now), latency, name="step", reset_less=False))
        m.d.comb += [
            self.step.eq(step),
            self.step.entry.eq(delay(m, now.entry, latency - self.ahead_of(self.config), name="entry")),
        ]
        if chosen is not None:
            zero_point = delay(m, chosen, self._multiplier.latency, name="zero_point")
            m.d.comb += [self.row.zero_point.eq(zero_point), self.row.k_zero_point.eq(self._multiplier.product)]
        return m

    def _walk(self, m: Module) -> tuple[data.View, Value]:
        """The step that a token announces, or the one after it, and its row of the job."""
        config = self.config
        column = Countdown(m, self.n, config.cols, name="n", load=self.begin, slow=config.first_slot > 1)
        group = Countdown(m, self.m, self.rows, name="m", load=self.begin, slow=config.first_slot > 1)
        step = Signal(range(config.interval))
        last_step = Signal(init=config.first_slot == 1)
        in_rows = Signal()  # past the first slot
        row_in_tile = Signal(range(self.rows))
        rows_left = Signal(range(self.rows + 1))  # with this one
        last_row = Signal()  # of those
        columns_left = Signal(range(config.cols + 1))  # of this row of the tile, with this step's
        tile_entry = Signal(range(config.table_words))
        first_row = Signal(range(config.max_rows))
        busy, stays, job_ends = (Signal(name=name) for name in ("busy", "stays", "job_ends"))
        has_columns = Signal()  # columns_left is not 0
        row_ends = Signal()  # it is not, and at most lanes
        final_tile = Signal()  # in time for its first row
        in_tile = (in_rows, last_row, row_in_tile)
        m.d.sync += [busy.eq(self.start | (busy & stays)), final_tile.eq(column.final & group.final)]
        now = Signal(drain_step(config))
        m.d.comb += [
            now.column_sum.eq(busy & ~in_rows),
            now.push.eq(busy & in_rows & has_columns),
            now.step.eq(step),
            now.entry.eq(tile_entry + step),
            now.columns.eq(Mux(row_ends, columns_left, config.lanes)),
            now.tile_last.eq(row_ends & (self.per_slot | last_row)),
            now.last.eq(row_ends & last_row & final_tile),
            job_ends.eq(busy & now.last),
            stays.eq(~(job_ends | (last_step & (self.per_slot | last_row)))),
        ]
        with m.If(busy):
            m.d.sync += [
                step.eq(Mux(last_step, 0, step + 1)),
                last_step.eq((config.interval == 1) | (step == config.interval - 2)),
                columns_left.eq(Mux(row_ends, 0, columns_left - config.lanes)),
                has_columns.eq(has_columns & ~row_ends),
                row_ends.eq(has_columns & ~row_ends & (columns_left <= 2 * config.lanes)),
            ]
            with m.If(last_step):
                if config.first_slot < config.interval:
                    m.d.sync += last_step.eq(last_row)  # then the first slot, of one cycle, comes next
                m.d.sync += [columns_left.eq(column.taken), has_columns.eq(1)]
                m.d.sync += row_ends.eq(Mux(column.final, column.left <= config.lanes, config.cols <= config.lanes))
                m.d.sync += [row_in_tile.eq(row_in_tile + in_rows), rows_left.eq(rows_left - 1)]
                m.d.sync += last_row.eq(rows_left == 2)
                with m.If(~in_rows):
                    m.d.sync += [in_rows.eq(1), rows_left.eq(group.taken), last_row.eq(group.taken == 1)]
                with m.If(last_row):
                    m.d.sync += [each.eq(0) for each in in_tile]
                    m.d.sync += tile_entry.eq(Mux(column.final, self.first_column, tile_entry + config.interval))
                    column.advance()
                    with m.If(column.final):
                        m.d.sync += first_row.eq(first_row + self.rows)
                        group.advance()
        with m.If(delay(m, job_ends, 1, name="ended", reset_less=False)):  # steps that have no columns are left out
            m.d.sync += [step.eq(0), last_step.eq(config.first_slot == 1), *(each.eq(0) for each in in_tile)]
        self._begin(m, tile_entry, first_row)
        return now, first_row + row_in_tile

    def _begin(self, m: Module, tile_entry: Signal, first_row: Signal) -> None:
        """First entry of the job in the column tables and in the row table."""
        with m.If(self.begin):
            m.d.sync += tile_entry.eq(self.first_column)
            if not self.config.float8:
                m.d.sync += first_row.eq(self.first_row)

    def _zero_point(self, m: Module, platform: object, row: Value) -> Signal:
        """The zero point of ``row``, read from the table, and K times the zero point, from the multiplier."""
        table, multiplier = self._table, self._multiplier
        m.submodules.table = place(table, platform)
        m.submodules.multiplier = place(multiplier, platform)
        chosen = Signal(signed(8), reset_less=True)
        m.d.comb += [
            table.write.eq(self.row_write),
            table.write_address.eq(self.row_address),
            table.write_data.eq(self.row_value),
            table.read.eq(1),
            table.read_address.eq(row[: len(table.read_address)]),
            multiplier.a.eq(chosen),
            multiplier.b.eq(self.k),
        ]
        m.d["sync" if self.config.pipelined else "comb"] += chosen.eq(
            Mux(self.per_row, table.read_data, self.zero_point)
        )
        return chosen
