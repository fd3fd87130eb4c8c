"""Read-only memory: constant words, in lookup tables where they are few and in block RAM where they are many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from amaranth.hdl import Module, unsigned
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from systoliq.golden.words import Words, bytes_of, to_integers, to_words

from .block_ram import BlockRam
from .cells import is_ecp5
from .cells.ecp5_ram import WIDTHS, dp16kd_rom
from .delay import delay
from .hierarchy import Written
from .rom_file import rom_in_file

__all__ = ["FEW", "INLINE", "Rom"]

FEW = 64
"""Words that lookup tables hold better: 64 words take four lookup tables of ECP5 per bit, and avoid the output delay of
a memory.
"""

INLINE = 8192
"""Largest number of bits that is written into the Verilog, a line for each word; larger memories have a separate file.
"""


class Rom(wiring.Component):
    """``words`` of ``width`` bits, not negative: ``word`` shows the one at ``address`` ``latency`` cycles later.

    Words are integers, or rows of bytes (see `words`). More than `FEW` have the register behind them that makes block
    RAM fast, where the ``cells`` have one (see `BlockRam`); for ``ecp5`` they lie in DP16KD. Other memories of more
    than `INLINE` bits are emitted with their contents in a file (see `rom_in_file`).
    """

    def __init__(self, words: Sequence[int] | Words, width: int, *, cells: str, kind: str) -> None:
        if not isinstance(words, np.ndarray):
            words = to_words(np.array(words, dtype=object)[:, np.newaxis], width, bytes_of(width))
        self.words = words
        self.kind = kind
        self.latency = self.latency_of(len(self.words), cells)
        self._cells = is_ecp5(cells) and FEW < len(self.words) <= max(WIDTHS)
        address = range(max(len(self.words), 2))  # no port without width, which Verilog does not have
        super().__init__({"address": In(address), "word": Out(width)})

    @staticmethod
    def latency_of(words: int, cells: str) -> int:
        """Cycles from an address to its word, in a memory of ``words`` words."""
        return BlockRam.latency_of(cells) if words > FEW else 1

    def written(self, name: str) -> Written | None:
        """The module ``name`` with its contents in a file, where they are many."""
        if self._cells or len(self.words) * len(self.word) <= INLINE:
            return None
        return rom_in_file(name, self.words, len(self.word), self.latency)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        if self._cells:
            m.d.comb += self.word.eq(dp16kd_rom(m, self.words, len(self.word), address=self.address))
            return m
        init = to_integers(self.words)
        m.submodules.memory = memory = Memory(shape=unsigned(len(self.word)), depth=len(init), init=init)
        read = memory.read_port()
        m.d.comb += [
            read.en.eq(1),
            read.addr.eq(self.address),
            self.word.eq(delay(m, read.data, self.latency - 1, name="word")),
        ]
        return m
