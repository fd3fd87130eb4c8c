"""An engine lane: corrects sums for zero points, adds the bias and requantizes, with constants from a table."""

from __future__ import annotations

from amaranth.hdl import Const, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.formats import INT8
from systoliq.golden.requantization import Rounding

from ..block_ram import BlockRam
from ..delay import delay
from ..delay_line import DelayLine
from ..hierarchy import place
from ..requantizer import Requantizer, RequantizerConfig
from .config import EngineConfig
from .drain_control import lane_step
from .zero_point_product import ZeroPointProduct

__all__ = ["MAX_SHIFT", "MIN_SHIFT", "EngineLane", "LaneRow", "column_entry"]

MIN_SHIFT, MAX_SHIFT = 14, 63
"""Shifts of a 24-bit multiplier with its top bit set: 14 belongs to a scale of 2^9 to 2^10, which saturates all."""

ROW_SUM_BITS = 24  # of 65535 int8 elements
LaneRow = data.StructLayout({"zero_point": signed(8), "row_sum": signed(ROW_SUM_BITS + 1)})
"""A row of A: its zero point, and the sum of its elements less their zero points."""

_PRODUCT_BITS = (ROW_SUM_BITS + 1, ROW_SUM_BITS)  # of the sums that zero points of B and of A multiply

column_entry = data.StructLayout(
    {"bias": signed(32), "multiplier": unsigned(24), "shift": unsigned(6), "zero_point": signed(8)}
)
"""An entry of the column table."""


class EngineLane(wiring.Component):
    """``y`` = requantized or plain ``sum (a - a_zp) (b - b_zp) + bias``, modulo 2^32, of one column after the other.

    In the cycle of a ``step`` the lane reads ``sums[step.step]``; ``row`` counts in a row's first step with a push.
    ``step_next`` and ``row_next`` are theirs for the lane to the right, ``interval`` cycles later. ``y`` comes
    ``latency`` cycles after the step.

    ``y`` holds an int8 or uint8 in its low 8 bits, or with ``int32`` the sum itself. ``y_unsigned`` and ``int32`` must
    not change while the lane works. ``zero_point`` is the zero point of Y, less 128 if Y is unsigned.
    """

    kind = "lane"

    def __init__(self, config: EngineConfig) -> None:
        self._config = config
        self._scale_later = 2 * config.pipelined  # late enough to have a cycle for a register among columns
        self._choosing = int(config.pipelined and config.interval > 1)  # among columns, a cycle of its own
        self.requantizer = Requantizer(
            RequantizerConfig(
                accumulator_bits=32,
                multiplier_bits=24,
                min_shift=MIN_SHIFT,
                max_shift=MAX_SHIFT,
                offset_bits=1,
                output=INT8,
                rounding=Rounding.NEAR_TIE,
                cells=config.cells,
                pipelined=config.pipelined,
                scale_later=self._scale_later,
            )
        )
        step = lane_step(config, "column_sum", "push", "step", "entry")
        super().__init__(
            {
                "step": In(step),
                "step_next": Out(step),
                "row": In(LaneRow),
                "row_next": Out(LaneRow),
                "sums": In(data.ArrayLayout(signed(32), config.interval)),
                "y_unsigned": In(1),
                "int32": In(1),
                "zero_point": In(signed(8)),
                "column_write": In(1),
                "column_address": In(range(config.table_words)),
                "column_value": In(column_entry),
                "y": Out(32),
            }
        )

    @property
    def _product_latency(self) -> int:
        return ZeroPointProduct.latency_of(self._config.zero_point_cells, pipelined=self._config.pipelined)

    @property
    def latency(self) -> int:
        """[Selection of the column;] products of the zero points; their sum; addition to the accumulator with its bias;
        requantizer.
        """
        return self._choosing + self._product_latency + 1 + self.requantizer.latency

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.requantizer = place(self.requantizer, platform)
        zero_point, bias, scale = self._constants(m, platform)
        # Cycle 0: the sum at hand, its row's context, its column's sum, and the products that they go into.
        summed = Signal(signed(32))
        m.d.comb += summed.eq(self.sums[self.step.step] if self._config.interval > 1 else self.sums[0])
        chosen = delay(m, summed, self._choosing, name="chosen").as_signed()
        step = self._chosen(m, self.step, name="step_now")
        row = self._row(m)
        products = self._products(m, platform, chosen, step, row, zero_point)
        # And when these are there: the accumulator as ONNX defines it.
        self._requantize(m, platform, chosen, bias, products, scale)
        m.d.comb += self.step_next.eq(delay(m, Value.cast(self.step), self._config.interval, name="step"))
        return m

    @property
    def _held_back(self) -> int:
        """Cycles of a sum in memory, none where logic cells have a register anyway."""
        return self._product_latency - 1 + self._config.pipelined

    def _constants(self, m: Module, platform: object) -> tuple[Value, Value, data.View]:
        """Entry of the column table for this step's column: (zero point, bias, multiplier and shift)."""
        held_back = self._held_back
        # Each part of an entry is read just before it is used: that takes fewer registers than to hold it back.
        entry: Value = delay(m, self.step.entry, self._choosing, name="entry")
        zero_point = self._table(m, platform, ("zero_point",), entry).zero_point
        entry = delay(m, entry, held_back, name="bias_entry")
        bias = self._table(m, platform, ("bias",), entry).bias
        entry = delay(m, entry, self._product_latency + 1 - held_back + self._scale_later, name="scale_entry")
        scale = self._table(m, platform, ("multiplier", "shift"), entry)
        return zero_point, bias, scale

    def _row(self, m: Module) -> data.View:
        """The row at hand: as it came with its first step."""
        config = self._config
        row = self._chosen(m, self.row, name="row_now")
        held = Signal(LaneRow, reset_less=True)
        now = Signal(LaneRow)
        new_row: Value = self.step.push & (self.step.step == 0)  # it stays for the lane to the right, which is later
        if config.interval == 1:
            new_row = Const(1)
        elif config.one_product:
            new_row = (self.step.column_sum | self.step.push) & (self.step.step == 0)
        new_row = delay(m, new_row, self._choosing, name="new_row")
        m.d.comb += [now.eq(Mux(new_row, row, held)), self.row_next.eq(held)]
        m.d.sync += held.eq(now)
        return now

    def _products(
        self, m: Module, platform: object, chosen: Value, step: data.View, now: data.View, zero_point: Value
    ) -> Value:
        """The corrections for zero points of the sum ``chosen``, in row ``now`` and its column: two products."""
        config = self._config
        if not config.one_product:
            column_sum = self._of_column(m, chosen[:ROW_SUM_BITS].as_signed(), step, self.step.step, name="column_sum")
            column_sum = delay(m, column_sum, self._choosing, name="column_sum_now").as_signed()

        row_sum_bits, column_sum_bits = _PRODUCT_BITS
        by_column = ZeroPointProduct(row_sum_bits, cells=config.zero_point_cells, pipelined=config.pipelined)
        m.submodules.by_column = place(by_column, platform)
        by_row_product: Value
        if config.one_product:
            # The tile's only row is known when its column sums come: their products are what waits for the row.
            now_column = step.column_sum
            m.d.comb += [
                by_column.sum.eq(Mux(now_column, chosen[:ROW_SUM_BITS].as_signed(), now.row_sum)),
                by_column.zero_point.eq(Mux(now_column, now.zero_point, zero_point)),
            ]
            step = data.View(
                self.step.shape(), delay(m, Value.cast(self.step), self._product_latency, name="product_step")
            )
            by_row_product = self._of_column(m, by_column.product, step, step.step, name="column_product")
        else:
            by_row = ZeroPointProduct(column_sum_bits, cells=config.zero_point_cells, pipelined=config.pipelined)
            m.submodules.by_row = place(by_row, platform)
            by_row_product = by_row.product
            m.d.comb += [
                by_column.sum.eq(now.row_sum),
                by_column.zero_point.eq(zero_point),
                by_row.sum.eq(column_sum),
                by_row.zero_point.eq(now.zero_point),
            ]
        return by_column.product + by_row_product

    def _requantize(
        self, m: Module, platform: object, chosen: Value, bias: Value, products: Value, scale: data.View
    ) -> None:
        """The accumulator, ``chosen`` with its bias less the ``products`` of the zero points, and Y of it."""
        requantizer, each = self.requantizer, int(self._config.pipelined)
        acc = self._held(m, platform, chosen, self._held_back, name="acc")
        biased = delay(m, (acc + bias)[:32], 1, name="biased").as_signed()
        correction = delay(m, products[:32], each, name="correction").as_signed()
        total = Signal(signed(32), reset_less=True)
        m.d["comb" if each else "sync"] += total.eq(biased - correction)
        m.d.comb += [
            requantizer.acc.eq(total),
            requantizer.multiplier.eq(scale.multiplier),
            requantizer.shift.eq(scale.shift),
            requantizer.zero_point.eq(self.zero_point),
        ]
        plain = self._held(m, platform, delay(m, total, each, name="total"), requantizer.latency - each, name="plain")
        flip = self.y_unsigned << 7
        m.d.comb += self.y.eq(Mux(self.int32, plain, (Value.cast(requantizer.y) ^ flip)[:8]))

    def _held(self, m: Module, platform: object, value: Value, cycles: int, *, name: str) -> Value:
        """The sum ``value`` as it was ``cycles`` ago."""
        if cycles < 2:
            return delay(m, value, cycles, name=name)
        line = DelayLine(signed(32), cycles=cycles, cells=self._config.cells)
        m.submodules[name] = place(line, platform)
        m.d.comb += line.i.eq(value)
        return line.o

    def _chosen(self, m: Module, view: data.View, *, name: str) -> data.View:
        """``view`` as it was when the column was chosen."""
        return data.View(view.shape(), delay(m, Value.cast(view), self._choosing, name=name))

    def _of_column(self, m: Module, value: Value, step: data.View, column: Value, *, name: str) -> Signal:
        """``value`` in the slot of the column sums, which ``step`` names, kept for ``column``."""
        interval = self._config.interval
        kept = [Signal(value.shape(), name=f"{name}_{i}", reset_less=True) for i in range(interval)]
        for i, each in enumerate(kept):
            with m.If(step.column_sum & (step.step == i)):
                m.d.sync += each.eq(value)
        chosen = Signal(value.shape(), name=name)
        for i, each in enumerate(kept):
            with m.If(column == i):
                m.d.comb += chosen.eq(each)
        return chosen

    def _table(self, m: Module, platform: object, fields: tuple[str, ...], entry: Value) -> data.View:
        """``fields`` of the column table at ``entry``, `BlockRam.latency` cycles later."""
        part = data.StructLayout({field: column_entry[field].shape for field in fields})
        table = BlockRam(part, depth=self._config.table_words, cells=self._config.cells)
        m.submodules[f"{fields[0]}_table"] = place(table, platform)
        m.d.comb += [
            table.write.eq(self.column_write),
            table.write_address.eq(self.column_address),
            *(table.write_data[field].eq(self.column_value[field]) for field in fields),
            table.read.eq(1),
            table.read_address.eq(entry),
        ]
        return table.read_data
