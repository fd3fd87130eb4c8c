"""Weight memory: the read-only operands of one column of the array."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

__all__ = ["WeightColumn"]


class WeightColumn(wiring.Component):
    """A read-only memory of ``depth`` operands a word; passes its address to the column on its right.

    ``word`` shows the word at ``address`` one cycle later, and ``address_next`` the address itself: a chain of these
    gives column c its operands c cycles after column 0, which is the skew that the array wants, for the price of an
    address register instead of a triangle of operand registers.
    """

    def __init__(self, layout: data.ArrayLayout, words: Sequence[Sequence[int]], *, kind: str) -> None:
        self.words = [list(word) for word in words]
        self.kind = kind
        self._layout = layout
        address = range(max(len(self.words), 2))  # no port without width, which Verilog does not have
        super().__init__({"address": In(address), "address_next": Out(address), "word": Out(layout)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.memory = memory = Memory(shape=self._layout, depth=len(self.words), init=self.words)
        read = memory.read_port()
        address = Signal.like(self.address, reset_less=True)
        m.d.sync += address.eq(self.address)
        m.d.comb += [
            read.en.eq(1),
            read.addr.eq(self.address),
            self.word.eq(read.data),
            self.address_next.eq(address),
        ]
        return m
