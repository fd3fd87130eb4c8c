"""A drain lane: follows the sums of its columns as they leave the array, adds the bias and requantizes."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextlib import nullcontext

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.formats import signed_bits

from .counter import Count, count, successor
from .delay import delay
from .hierarchy import place
from .multiplier import WideMultiplier
from .requantizers import LaneRequantizerConfig, lane_requantizer
from .result_buffer import result_flags
from .schedule import Schedule
from .selection import select, select_cycles, sweep, sweep_cycles
from .table import ConstantTable

__all__ = ["ColumnConstants", "DrainLane"]

_LATE = 2  # extra registers between the step and many columns, if the schedule has time for them


@dataclasses.dataclass(frozen=True, kw_only=True)
class ColumnConstants:
    """Constants of one column: a lane adds them to its sums and multiplies by them."""

    bias: int
    residual: int = 0
    multiplier: int = 0
    shift: int = 0
    offset: int = 0
    exponent: int = 0


class DrainLane(wiring.Component):
    """Serves ``interval`` neighbouring columns: one sum every ``pace`` cycles, row after row, ``drain_cycles`` cycles
    for a tile.

    ``start`` comes in the cycle in which ``sums[0]`` shows row 0; in the cycles after it the lane reads column 1, 2...
    of row 0, then row 1, as `SystolicArray` shows them, each ``pace`` cycles after the one before. Tiles are counted,
    not announced. ``batch_last`` comes with the ``start`` of a tile that ends a batch.

    ``row_sums`` are the least and the most that a row of A may sum to, if residuals are multiplied by these sums; then
    ``row_sum`` holds the sum of row r when the lane begins row r, and ``row_sum_next`` when the next lane does. The
    products are made in ``cells``; the default is the cells of ``schedule``.

    ``push`` marks ``y`` and its ``flags`` ``latency`` cycles after the sum was read.

    ``constants[tile][step]`` are the constants of the lane's columns. Steps beyond the columns of a ragged last tile
    are not pushed.
    """

    def __init__(
        self,
        schedule: Schedule,
        requantizer: LaneRequantizerConfig,
        constants: Sequence[Sequence[ColumnConstants]],
        *,
        zero_point: int,
        index: int,
        row_sums: tuple[int, int] | None = None,
        cells: str | None = None,
    ) -> None:
        self.schedule = schedule
        self.requantizer = lane_requantizer(requantizer)
        self.zero_point = zero_point
        self.row_sums = row_sums
        self.kind = f"lane_{index}"
        self._table = self._constants(constants, schedule.config.cells)
        self._row_sum_product: WideMultiplier | None = None
        if row_sums:
            least, most = row_sums
            bits = min((most - least).bit_length(), len(self.requantizer.acc))
            factors = len(self._table.residual), bits
            kind = "row_sum_product_{}x{}".format(*factors)
            self._row_sum_product = WideMultiplier(*factors, cells=cells or schedule.config.cells, kind=kind)
        self._sweeps = schedule.config.rows == 1  # sums of a single row stay until the next tile's
        self._late = min(schedule.tile_cycles - schedule.drain_cycles, _LATE)
        self._choosing = max(self._select_cycles, self._table.latency)
        accumulator = signed(schedule.config.word_bits)
        ports = {
            "start": In(1),
            "batch_last": In(1),
            "sums": In(data.ArrayLayout(accumulator, schedule.interval)),
            "push": Out(1),
            "flags": Out(result_flags()),
            "y": Out(self.requantizer.y.shape()),
        }
        if row_sums:
            ports |= {"row_sum": In(accumulator), "row_sum_next": Out(accumulator)}
        super().__init__(ports)

    @property
    def latency(self) -> int:
        """Choice of the column, product of the row sum where there is one, requantizer."""
        return self._to_requantizer + self.requantizer.latency

    @property
    def _select_cycles(self) -> int:
        """Cycles of the choice of the column."""
        count = self.schedule.interval
        return sweep_cycles(count, self._late) if self._sweeps else select_cycles(count)

    @property
    def _to_requantizer(self) -> int:
        """Cycles from the sum to the requantizer."""
        return self._choosing + self._correcting

    @property
    def _correcting(self) -> int:
        """Cycles of the product of residual and row sum."""
        return self._row_sum_product.latency if self._row_sum_product else 0

    def _constants(self, columns: Sequence[Sequence[ColumnConstants]], cells: str) -> ConstantTable:
        """The table of ``columns[tile][step]``, tiles a power of two of steps apart."""
        steps = 1 << (self.schedule.interval - 1).bit_length()
        entries = [column for tile in columns for column in [*tile, *[tile[-1]] * (steps - len(tile))]]
        if self.row_sums:  # the factor is the row sum minus the least row sum
            least = self.row_sums[0]
            entries = [dataclasses.replace(each, bias=each.bias - each.residual * least) for each in entries]
        shapes = {"bias": signed(signed_bits(*(column.bias for column in entries)))}
        if self.row_sums:
            shapes["residual"] = signed(signed_bits(*(column.residual for column in entries)))
        shapes |= {name: getattr(self.requantizer, name).shape() for name in self.requantizer.constants}
        values = {name: [getattr(column, name) for column in entries] for name in shapes}
        return ConstantTable(values, shapes, cells=cells, kind=f"{self.kind}_constants")

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.requantizer = place(self.requantizer, platform)
        step, index, present, flags = self._follow(m)
        self._requantize(m, platform, step, index)
        control: Value = Cat(present, flags)
        if "start" in self.requantizer.signature.members:
            control = delay(m, control, self._to_requantizer, name="chosen_control", reset_less=False)
            m.d.comb += self.requantizer.start.eq(control[0])
            control = delay(m, control, self.requantizer.latency, name="control", reset_less=False)
        else:
            control = delay(m, control, self.latency, name="control", reset_less=False)
        m.d.comb += [self.push.eq(control[0]), self.flags.eq(control[1:])]
        return m

    def _follow(self, m: Module) -> tuple[Signal, Value, Signal, data.View[data.StructLayout]]:
        """Position in the walk over rows and tiles: (step, index of its constants, whether the result is pushed, its
        flags).
        """
        schedule = self.schedule
        step = Signal(range(schedule.interval))
        row = Signal(range(schedule.config.rows))
        tile = Signal(range(schedule.column_tiles))
        running = Signal()
        ends_batch = Signal()
        busy = Signal()
        ends = Signal()
        last_row, final_step = row == schedule.config.rows - 1, step == schedule.interval - 1
        phase = self._phase(m, busy)
        last_step = final_step & phase.last if phase else final_step
        m.d.comb += [busy.eq(self.start | running), ends.eq(busy & last_row & last_step)]
        with m.If(busy):
            m.d.sync += running.eq(~ends)
            with m.If(phase.last) if phase else nullcontext():
                m.d.sync += step.eq(successor(step, schedule.interval))
            with m.If(last_step):
                m.d.sync += row.eq(successor(row, schedule.config.rows))
            with m.If(ends):
                m.d.sync += tile.eq(successor(tile, schedule.column_tiles))
        with m.If(self.start):
            m.d.sync += ends_batch.eq(self.batch_last)

        ragged = schedule.row_beats(schedule.column_tiles - 1)
        flags = Signal(result_flags())
        present = Signal()
        in_last_tile = tile == schedule.column_tiles - 1
        m.d.comb += [
            flags.tile_last.eq(last_row & Mux(in_last_tile, step == ragged - 1, final_step)),
            flags.last.eq(Mux(self.start, self.batch_last, ends_batch) & flags.tile_last),
            present.eq((busy if phase is None else busy & (phase.value == 0)) & (~in_last_tile | (step < ragged))),
        ]
        return step, Cat(step, tile), present, flags

    def _phase(self, m: Module, busy: Signal) -> Count | None:
        """The cycles of a sum; None where a sum has one, or a tile one sum."""
        pace = self.schedule.pace
        return count(m, pace, when=busy, name="phase") if pace > 1 and self.schedule.drain_steps > 1 else None

    def _requantize(self, m: Module, platform: object, step: Signal, index: Value) -> None:
        """The sum of column ``step`` with its bias, less the row sum's part, through the requantizer."""
        interval, requantizer, constants = self.schedule.interval, self.requantizer, self._table
        biased = Signal.like(requantizer.acc, name="biased")
        sums = [self.sums[column] for column in range(interval)]
        chosen = sweep(m, sums, step, late=self._late) if self._sweeps else select(m, sums, step)
        chosen = delay(m, chosen, self._choosing - self._select_cycles, name="chosen").as_signed()
        m.submodules.constants = place(constants, platform)
        m.d.comb += constants.index.eq(delay(m, index, self._choosing - constants.latency, name="constants_index"))

        if self._row_sum_product and self.row_sums:
            product = self._row_sum_product
            m.submodules.row_sum_product = place(product, platform)
            held = Signal.like(self.row_sum, name="row_sum_held", reset_less=True)
            now = Signal.like(self.row_sum, name="row_sum_now")
            m.d.comb += [now.eq(Mux(step == 0, self.row_sum, held)), self.row_sum_next.eq(held)]
            m.d.sync += held.eq(now)
            above_least = (now - self.row_sums[0])[: len(product.b)]
            m.d.comb += [
                product.a.eq(constants.residual),
                product.b.eq(delay(m, above_least, self._choosing, name="row_sum")),
            ]
            total = (chosen + constants.bias)[: len(biased)]
            m.d.comb += biased.eq(delay(m, total, product.latency, name="sum").as_signed() - product.product)
        else:
            m.d.comb += biased.eq(chosen + constants.bias)

        for name in requantizer.constants:
            value = delay(m, getattr(constants, name), self._correcting, name=f"{name}_delayed")
            m.d.comb += getattr(requantizer, name).eq(value)
        m.d.comb += [requantizer.acc.eq(biased), self.y.eq(requantizer.y)]
        if "zero_point" in requantizer.signature.members:
            m.d.comb += requantizer.zero_point.eq(self.zero_point)
