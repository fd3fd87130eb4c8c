"""Extremum: the maximum or minimum of two codes, each from its own table."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.formats import IntFormat

from ..hierarchy import place
from ..is_greater import is_greater
from ..operand_shape import operand_shape
from ..rom import Rom
from .lookup import by_bits

__all__ = ["ExtremumOfTables"]


class ExtremumOfTables(wiring.Component):
    """``y`` for the bytes ``a`` and ``b`` of ``latency`` cycles ago. One pair a cycle, no reset.

    ``tables``: for both operands, codes of ``output``, in the order of ``operand``'s codes from the least; ``y`` is the
    greater of the two if ``greater``, else the lesser.
    """

    def __init__(
        self,
        tables: tuple[Sequence[int], Sequence[int]],
        operand: IntFormat,
        output: IntFormat,
        *,
        greater: bool,
        cells: str,
        kind: str,
    ) -> None:
        self.output = output
        self.greater = greater
        self.kind = kind
        self._tables = [
            Rom([entry & 0xFF for entry in by_bits(entries, operand)], 8, cells=cells, kind=f"{kind}_{name}_table")
            for name, entries in zip("ab", tables, strict=True)
        ]
        super().__init__({"a": In(8), "b": In(8), "y": Out(8)})

    @property
    def latency(self) -> int:
        """Table, choice."""
        return self._tables[0].latency + 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        codes = []
        for name, table in zip("ab", self._tables, strict=True):
            m.submodules[f"{name}_table"] = place(table, platform)
            code = Signal(operand_shape(self.output), name=f"{name}_code")
            m.d.comb += [table.address.eq(getattr(self, name)), code.eq(table.word)]
            codes.append(code)
        a, b = codes
        y = Signal(8, reset_less=True)
        m.d.sync += y.eq(Mux(is_greater(a, b) if self.greater else is_greater(b, a), a, b))
        m.d.comb += self.y.eq(y)
        return m
