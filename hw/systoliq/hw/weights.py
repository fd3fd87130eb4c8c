"""Weight memory: the read-only operands of one column of the array."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from amaranth.hdl import Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.words import bytes_of, to_words

from .delay import delay
from .hierarchy import place
from .rom import Rom

__all__ = ["WeightColumn"]


class WeightColumn(wiring.Component):
    """A read-only memory of ``words`` [count, depth] operands; passes its address to the column on its right.

    ``word`` shows the word at ``address`` ``latency`` cycles later, and ``address_next`` the address itself one cycle
    later: a chain of these gives column c its operands c cycles after column 0, which is the skew that the
    array wants, for the price of an address register instead of a triangle of operand registers. Between block RAM and
    the multipliers, which lie apart on a chip, is a register on the way.
    """

    def __init__(self, layout: data.ArrayLayout, words: npt.ArrayLike, *, cells: str, kind: str) -> None:
        operands = np.asarray(words, np.int64)
        self.kind = kind
        stored = to_words(operands, layout.size // layout.length, bytes_of(layout.size))
        self._rom = Rom(stored, layout.size, cells=cells, kind=f"{kind}_rom")
        self.latency = self.latency_of(len(operands), cells)
        address = self._rom.address.shape()
        super().__init__({"address": In(address), "address_next": Out(address), "word": Out(layout)})

    @staticmethod
    def latency_of(words: int, cells: str) -> int:
        """Cycles from an address to its word, in a memory of ``words`` words."""
        memory = Rom.latency_of(words, cells)
        return memory + (memory > 1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        rom = self._rom
        m.submodules.rom = place(rom, platform)
        address = Signal.like(self.address, reset_less=True)
        m.d.sync += address.eq(self.address)
        m.d.comb += [
            rom.address.eq(self.address),
            Value.cast(self.word).eq(delay(m, rom.word, self.latency - rom.latency, name="on_the_way")),
            self.address_next.eq(address),
        ]
        return m
