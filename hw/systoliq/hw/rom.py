"""Read-only memory: constant words, in lookup tables where they are few and in block RAM where they are many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, unsigned
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from systoliq.golden.words import Words, bytes_of, to_integers, to_words

from .block_ram import BlockRam
from .cells import is_ecp5
from .cells.ecp5_ram import dp16kd_rom
from .delay import delay
from .hierarchy import Written
from .rom_file import rom_in_file
from .rom_layout import DEEPEST, WIDE, Strip, rom_strips

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
    RAM fast, where the ``cells`` have one (see `BlockRam`); for ``ecp5`` they lie in DP16KD as `rom_layout` has it, and
    bits that are the same in all words in none. Other memories of more than `INLINE` bits are emitted with their
    contents in a file (see `rom_in_file`).
    """

    def __init__(self, words: Sequence[int] | Words, width: int, *, cells: str, kind: str) -> None:
        if not isinstance(words, np.ndarray):
            words = to_words(np.array(words, dtype=object)[:, np.newaxis], width, bytes_of(width))
        self.words = words
        self.kind = kind
        self.latency = self.latency_of(len(self.words), cells)
        self._cells = is_ecp5(cells) and FEW < len(self.words) <= DEEPEST
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
            m.d.comb += self.word.eq(self._in_cells(m))
            return m
        m.d.comb += self.word.eq(self._in_memory(m, self.words, len(self.word), "memory"))
        return m

    def _in_memory(self, m: Module, words: Words, width: int, name: str, **attributes: str) -> Value:
        """The word of ``words`` at the address, in a memory of the Verilog."""
        init = to_integers(words)
        m.submodules[name] = memory = Memory(shape=unsigned(width), depth=len(init), init=init, attrs=attributes)
        read = memory.read_port()
        m.d.comb += [read.en.eq(1), read.addr.eq(self.address)]
        return delay(m, read.data, self.latency - 1, name="word")

    def _in_cells(self, m: Module) -> Value:
        """The word in DP16KD and lookup tables, but for bits that are the same in all words."""
        bits = np.unpackbits(self.words, axis=1, bitorder="little", count=len(self.word))
        varying = np.flatnonzero((bits != bits[0]).any(axis=0))
        held = bits[:, varying]
        found = [self._strip(m, strip, held[:, strip.low :][:, : strip.width]) for strip in rom_strips(*held.shape)]
        word: list[Value] = [Const(int(bit), 1) for bit in bits[0]]
        if len(varying) == len(word):
            return Cat(found)
        stored = Cat(found)
        for index, place in enumerate(varying):
            word[place] = stored[index]
        return Cat(word)

    def _strip(self, m: Module, strip: Strip, bits: npt.NDArray[np.uint8]) -> Value:
        """The bits of ``strip`` of the word at the address; ``bits`` are [words, width], for all words."""
        name = f"strip_{strip.low}"
        if not strip.depths:
            words = np.packbits(bits, axis=1, bitorder="little")
            return self._in_memory(m, words, strip.width, f"{name}_tables", rom_style="logic")
        if not strip.shared:
            return self._stacked(m, bits, self.address, strip.depths, name)
        whole, places = sum(strip.depths), (strip.shared - 1).bit_length()
        last = Signal(name=f"{name}_last")
        m.d.comb += last.eq(self.address >= whole)
        common = np.zeros((len(strip.columns) * strip.shared, max(width for _, width in strip.columns)), np.uint8)
        parts = []
        for index, (low, width) in enumerate(strip.columns):
            column = bits[:, low : low + width]
            apart = slice(index * strip.shared, (index + 1) * strip.shared)  # words that the common cell holds
            common[apart, :width] = column[apart]
            own = column[:whole].copy()
            own[apart][: len(column) - whole] = column[whole:]
            at = Mux(last, Cat(self.address[:places], Const(index, len(self.address) - places)), self.address)
            given = self._stacked(m, own, at, strip.depths, f"{name}_{index}")
            is_apart = delay(m, self.address[places:] == index, self.latency, name=f"{name}_{index}_apart")
            parts.append((is_apart, given, width))
        shown = self._stacked(m, common, self.address, (WIDE,), f"{name}_common")
        return Cat(Mux(is_apart, shown[:width], given) for is_apart, given, width in parts)

    def _stacked(
        self, m: Module, bits: npt.NDArray[np.uint8], address: Value, depths: Sequence[int], name: str
    ) -> Value:
        """The word at ``address`` in cells of ``depths``, one after the other."""
        word: Value | None = None
        first = 0
        for depth in depths:
            held = bits[first : first + depth]
            found = dp16kd_rom(m, held, address=address, depth=depth, name=f"{name}_from_{first}")
            if word is None:
                word = found
            else:
                here = delay(m, address >= first, self.latency, name=f"{name}_from_{first}_here")
                word = Mux(here, found, word)
            first += depth
        assert word is not None  # noqa: S101 - there is a depth
        return word
