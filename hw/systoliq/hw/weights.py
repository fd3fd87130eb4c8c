"""Weight memory: the read-only operands of one column of the array."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .block_ram import BlockRam
from .cells import is_ecp5
from .cells.ecp5_ram import WIDTHS, dp16kd_rom

__all__ = ["FEW", "WeightColumn"]

FEW = 64
"""Words that lookup tables hold better: a bit of them takes four tables of ECP5, and no way out of a memory."""


class WeightColumn(wiring.Component):
    """A read-only memory of ``depth`` operands a word; passes its address to the column on its right.

    ``word`` shows the word at ``address`` ``latency`` cycles later, and ``address_next`` the address itself a cycle
    later: a chain of these gives column c its operands c cycles after column 0, which is the skew that the array wants,
    for the price of an address register instead of a triangle of operand registers.

    More than `FEW` words have the register behind them that makes block RAM fast, where the ``cells`` have one (see
    `BlockRam`); for ``ecp5`` they lie in DP16KD.
    """

    def __init__(self, layout: data.ArrayLayout, words: Sequence[Sequence[int]], *, cells: str, kind: str) -> None:
        self.words = [list(word) for word in words]
        self.kind = kind
        self.latency = self.latency_of(len(self.words), cells)
        self._layout = layout
        self._cells = is_ecp5(cells) and FEW < len(self.words) <= max(WIDTHS)
        address = range(max(len(self.words), 2))  # no port without width, which Verilog does not have
        super().__init__({"address": In(address), "address_next": Out(address), "word": Out(layout)})

    @staticmethod
    def latency_of(words: int, cells: str) -> int:
        """Cycles from an address to its word, of so many."""
        return BlockRam.latency_of(cells) if words > FEW else 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        address = Signal.like(self.address, reset_less=True)
        m.d.sync += address.eq(self.address)
        m.d.comb += self.address_next.eq(address)
        shown = Value.cast(self.word)
        if self._cells:
            words = [self._layout.const(word).as_bits() for word in self.words]
            m.d.comb += shown.eq(dp16kd_rom(m, words, len(shown), address=self.address))
            return m
        m.submodules.memory = memory = Memory(shape=self._layout, depth=len(self.words), init=self.words)
        read = memory.read_port()
        m.d.comb += [read.en.eq(1), read.addr.eq(self.address)]
        word = Value.cast(read.data)
        for _ in range(1, self.latency):
            later = Signal(len(word), reset_less=True)
            m.d.sync += later.eq(word)
            word = later
        m.d.comb += shown.eq(word)
        return m
