"""Addition: two streams of images, element by element, as the rounded sum of two tables."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.formats import IntFormat, signed_bits
from systoliq.golden.network.sum_tables import SumTables

from ..delay import delay
from ..hierarchy import place
from ..operand_shape import operand_shape
from ..result_buffer import y_beat
from ..rom import Rom
from .fifo import Fifo
from .lookup import by_bits
from .steady import steady

__all__ = ["Addition", "SumOfTables"]


class SumOfTables(wiring.Component):
    """``y`` for the bytes ``a`` and ``b`` of ``latency`` cycles ago: see `SumTables.apply`. One pair a cycle, no reset.

    Bytes are codes of ``operand``, as bits.
    """

    def __init__(self, tables: SumTables, operand: IntFormat, *, cells: str, kind: str) -> None:
        self.tables = tables
        self.operand = operand
        self.kind = kind
        self._tables = []
        for name in ("a", "b"):
            entries = getattr(tables, name)
            bits = signed_bits(*entries)
            words = [entry % (1 << bits) for entry in by_bits(entries, operand)]
            self._tables.append(Rom(words, bits, cells=cells, kind=f"{kind}_{name}_table"))
        super().__init__({"a": In(8), "b": In(8), "y": Out(8)})

    @property
    def latency(self) -> int:
        """Table, sum, rounding, saturation."""
        return self._tables[0].latency + 3

    def elaborate(self, platform: object) -> Module:
        m = Module()
        words = []
        for name, table in zip(("a", "b"), self._tables, strict=True):
            m.submodules[f"{name}_table"] = place(table, platform)
            m.d.comb += table.address.eq(getattr(self, name))
            words.append(table.word.as_signed())
        shift, output = self.tables.shift, self.tables.output
        total = delay(m, words[0] + words[1], 1, name="sum").as_signed()
        rounded: Value = total
        if shift:
            up = total[shift - 1] & (total[: shift - 1].any() | total[shift])
            rounded = (total >> shift) + up
        rounded = delay(m, rounded, 1, name="rounded").as_signed()
        y = Signal(8, reset_less=True)
        m.d.sync += y.eq(Mux(rounded < output.min, output.min, Mux(rounded > output.max, output.max, rounded)))
        m.d.comb += self.y.eq(y)
        return m


class Addition(wiring.Component):
    """The sums of ``i_0`` and ``i_1``, a beat of ``lanes`` codes of ``operand`` a cycle; ``last`` is that of both."""

    def __init__(self, tables: SumTables, operand: IntFormat, *, lanes: int, cells: str, kind: str) -> None:
        self.lane = SumOfTables(tables, operand, cells=cells, kind=f"{kind}_lane")
        self.lanes = lanes
        self.kind = kind
        given, made = (y_beat(operand_shape(form), lanes) for form in (operand, tables.output))
        self.fifo = Fifo(made, depth=16, cells=cells)
        super().__init__(
            {
                "i_0": In(stream.Signature(given)),
                "i_1": In(stream.Signature(given)),
                "o": Out(stream.Signature(made)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        sources = [wiring.flipped(self.i_0), wiring.flipped(self.i_1)]
        last = delay(m, self.i_0.payload.last, self.lane.latency, name="last")
        result = Signal.like(Value.cast(self.fifo.i.payload))
        steady(m, platform, sources, self.fifo, result, latency=self.lane.latency)
        m.d.comb += result[-1].eq(last)
        for index in range(self.lanes):
            lane = SumOfTables(self.lane.tables, self.lane.operand, cells=self.fifo.cells, kind=self.lane.kind)
            m.submodules[f"lane_{index}"] = place(lane, platform)
            m.d.comb += [
                lane.a.eq(Value.cast(self.i_0.payload.data[index])),
                lane.b.eq(Value.cast(self.i_1.payload.data[index])),
                result[8 * index : 8 * index + 8].eq(lane.y),
            ]
        wiring.connect(m, self.fifo.o, wiring.flipped(self.o))
        return m
