"""Drain control: what every sum that leaves the engine's array is, told in step with it."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, signed, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .config import EngineConfig
from .loop import Countdown

__all__ = ["DrainControl", "RowContext", "drain_step"]


def drain_step(config: EngineConfig) -> data.StructLayout:
    """What a lane needs to know of the sum that it reads in a cycle.

    ``column_sum``: it is the sum of a column of B, not a result. ``push``: it is a result that Y has. ``step``: which
    of the lane's columns. ``entry``: the column's place in the lane's constant table. ``columns``: how many of the
    lanes have a column of Y in this cycle. ``tile_last`` and ``last``: the tile's or job's last cycle with a result.
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


RowContext = data.StructLayout({"zero_point": signed(8), "k_zero_point": signed(24)})
"""Zero point of a row of A, and K times it."""


class DrainControl(wiring.Component):
    """Follows the tiles of a job through the drain: column sums first, then the rows, ``interval`` cycles each.

    ``step`` describes a sum ``latency`` cycles after the token ``start`` reached its slot: for a token in cycle t, the
    lane reads its first column sum in ``t + latency``. ``row`` is valid together with the first step of each row. Tiles
    are counted, in the order of `Tiler`; M, K and N must not change from a job's start to its last step.

    A tile has up to ``rows`` rows. Without ``per_slot`` one token announces a tile of a slot for the column sums and
    ``rows`` slots; with it each slot has a token of its own, and the rows that a tile has are all.

    The row table is written by ``row_write``, ``row_address``, ``row_value``.
    """

    kind = "drain_control"
    latency = 2

    def __init__(self, config: EngineConfig, *, rows: int, per_slot: bool) -> None:
        self.config = config
        self.rows = rows
        self.per_slot = per_slot
        super().__init__(
            {
                "start": In(1),
                "m": In(16),
                "k": In(16),
                "n": In(16),
                "per_row": In(1),
                "zero_point": In(signed(8)),
                "row_write": In(1),
                "row_address": In(range(config.max_rows)),
                "row_value": In(signed(8)),
                "step": Out(drain_step(config)),
                "row": Out(RowContext),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self.config
        memory = Memory(shape=signed(8), depth=config.max_rows, init=[])
        m.submodules.rows = memory
        write, read = memory.write_port(), memory.read_port()
        m.d.comb += [
            write.en.eq(self.row_write),
            write.addr.eq(self.row_address),
            write.data.eq(self.row_value),
        ]

        column = Countdown(m, self.n, config.cols, name="n")
        group = Countdown(m, self.m, self.rows, name="m")
        step = Signal(range(config.interval))
        slot = Signal(range(self.rows + 1))
        running = Signal()
        busy = Signal()
        ends = Signal()
        columns_done = Signal(range(config.cols + 1))  # of this row of the tile, before this step
        columns_left = Signal(range(config.cols + 1))
        tile_entry = Signal(range(config.table_words))
        first_row = Signal(16)
        last_step = step == config.interval - 1
        m.d.comb += [
            busy.eq(self.start | running),
            ends.eq(busy & last_step & (slot == (group.taken if self.per_slot else self.rows))),
            columns_left.eq(column.taken - columns_done),
        ]
        now = Signal(drain_step(config))
        has_columns = column.taken > columns_done
        m.d.comb += [
            now.column_sum.eq(busy & (slot == 0)),
            now.push.eq(busy & (slot != 0) & (slot <= group.taken) & has_columns),
            now.step.eq(step),
            now.entry.eq(tile_entry + step),
            now.columns.eq(Mux(columns_left > config.lanes, config.lanes, columns_left)),
            now.tile_last.eq((self.per_slot | (slot == group.taken)) & (columns_left <= config.lanes)),
            now.last.eq((slot == group.taken) & (columns_left <= config.lanes) & column.final & group.final),
        ]
        with m.If(busy):
            m.d.sync += [running.eq(~(last_step if self.per_slot else ends)), step.eq(Mux(last_step, 0, step + 1))]
            m.d.sync += columns_done.eq(Mux(has_columns, columns_done + config.lanes, columns_done))
            with m.If(last_step):
                m.d.sync += [slot.eq(slot + 1), columns_done.eq(0)]
            with m.If(ends):
                m.d.sync += [slot.eq(0), tile_entry.eq(Mux(column.final, 0, tile_entry + config.interval))]
                column.advance()
                with m.If(column.final):
                    m.d.sync += first_row.eq(Mux(group.final, 0, first_row + self.rows))
                    group.advance()

        # One cycle later the row's zero point is there, two cycles later K times it.
        m.d.comb += [read.en.eq(1), read.addr.eq((first_row + slot - 1)[: len(read.addr)])]
        soon = Signal.like(now, name="soon")
        zero_point = Signal(signed(8))
        row = Signal(RowContext)
        m.d.comb += zero_point.eq(Mux(self.per_row, read.data, self.zero_point))
        m.d.sync += [
            soon.eq(now),
            self.step.eq(soon),
            row.zero_point.eq(zero_point),
            row.k_zero_point.eq(zero_point * self.k),
        ]
        m.d.comb += self.row.eq(row)
        return m
