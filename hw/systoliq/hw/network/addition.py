"""Addition: the code of a sum, as the rounded sum of two tables."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.formats import IntFormat, signed_bits
from systoliq.golden.network.sum_tables import SumTables

from ..delay import delay
from ..hierarchy import place
from ..rom import Rom
from .lookup import by_bits

__all__ = ["SumOfTables"]


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
        """Table, sum, [which way to round,] rounding, saturation."""
        return self._tables[0].latency + 3 + (self.tables.shift > 0)

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
            up = delay(m, total[shift - 1] & (total[: shift - 1].any() | total[shift]), 1, name="up")
            rounded = delay(m, total >> shift, 1, name="floor").as_signed() + up
        rounded = delay(m, rounded, 1, name="rounded").as_signed()
        y = Signal(8, reset_less=True)
        m.d.sync += y.eq(Mux(rounded < output.min, output.min, Mux(rounded > output.max, output.max, rounded)))
        m.d.comb += self.y.eq(y)
        return m
