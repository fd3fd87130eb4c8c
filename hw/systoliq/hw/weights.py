"""Weight memories: the read-only operands of the columns of an array."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.words import Words, bytes_of, to_words

from .cells import is_ecp5
from .delay import delay
from .hierarchy import place
from .rom import FEW, Rom
from .rom_layout import DEEPEST, strip_bits

__all__ = ["Piece", "WeightMemory", "column_words", "weight_memories"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Piece:
    """Bits ``low`` to ``low + width`` of the operands of ``column``."""

    column: int
    low: int
    width: int


class WeightMemory(wiring.Component):
    """A read-only memory whose words are ``pieces`` of the operands of neighbouring columns, the lowest bits first.

    ``word`` shows the pieces of the first column ``latency`` cycles after their ``address``, and those of each column
    behind it a cycle later than the one before, which is the skew that the array wants. ``address_next`` is the address
    ``onward`` cycles later, for the memory to the right. Between block RAM and the multipliers, which lie apart on a
    chip, is a register on the way.
    """

    def __init__(self, words: Words, pieces: Sequence[Piece], *, onward: int, cells: str, kind: str) -> None:
        self.kind = kind
        self.pieces = tuple(pieces)
        self.onward = onward
        width = sum(piece.width for piece in pieces)
        self._rom = Rom(words, width, cells=cells, kind=f"{kind}_rom")
        self.latency = self.latency_of(len(words), cells)
        address = self._rom.address.shape()
        super().__init__({"address": In(address), "address_next": Out(address), "word": Out(width)})

    @staticmethod
    def latency_of(words: int, cells: str) -> int:
        """Cycles from an address to its word, in a memory of ``words`` words."""
        memory = Rom.latency_of(words, cells)
        return memory + (memory > 1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        rom = self._rom
        m.submodules.rom = place(rom, platform)
        shown = []
        at = 0
        for piece in self.pieces:
            waits = self.latency - rom.latency + piece.column - self.pieces[0].column
            word = rom.word if len(self.pieces) == 1 else rom.word[at : at + piece.width]
            shown.append(delay(m, word, waits, name="on_the_way"))
            at += piece.width
        onward: Value = self.address
        for _ in range(self.onward):
            address = Signal.like(self.address, reset_less=True)
            m.d.sync += address.eq(onward)
            onward = address
        m.d.comb += [
            rom.address.eq(self.address),
            self.word.eq(shown[0] if len(shown) == 1 else Cat(shown)),
            self.address_next.eq(onward),
        ]
        return m


def weight_memories(layout: data.ArrayLayout, columns: npt.ArrayLike, *, cells: str) -> list[WeightMemory]:
    """Return the memories of ``columns`` [columns, words, depth], each of whose words has the ``layout``.

    Each column has a memory of its own. Only in cells of ECP5, where more than `FEW` words lie in block RAM, columns
    share memories, so that no cell is left half empty, and bits that are the same in all words are in none.
    """
    operands = np.asarray(columns, np.int64)
    count, words = operands.shape[:2]
    stored = [to_words(each, layout.size // layout.length, bytes_of(layout.size)) for each in operands]
    whole = [Piece(column=column, low=0, width=layout.size) for column in range(count)]
    if not is_ecp5(cells) or not FEW < words <= DEEPEST:
        return [
            WeightMemory(each, [piece], onward=1, cells=cells, kind=f"weights_{piece.column}")
            for each, piece in zip(stored, whole, strict=True)
        ]
    bits = np.stack([np.unpackbits(each, axis=1, bitorder="little", count=layout.size) for each in stored])
    varying = np.argwhere((bits != bits[:, :1]).any(axis=1))  # column and place of each
    step = strip_bits(words)
    cuts = [varying[at : at + step] for at in range(0, len(varying), step)]
    starts = [int(cut[0][0]) for cut in cuts]
    return [
        WeightMemory(
            np.packbits(bits[cut[:, 0], :, cut[:, 1]].T, axis=1, bitorder="little"),
            _pieces(cut.tolist()),
            onward=(starts + starts[-1:])[index + 1] - starts[index],
            cells=cells,
            kind=f"weights_{index}",
        )
        for index, cut in enumerate(cuts)
    ]


def column_words(layout: data.ArrayLayout, columns: npt.ArrayLike, memories: Sequence[WeightMemory]) -> list[Value]:
    """Return the words of ``columns``, as `weight_memories` takes them, from their ``memories`` and constants."""
    firsts = to_words(np.asarray(columns, np.int64)[:, 0], layout.size // layout.length, bytes_of(layout.size))
    bits = np.unpackbits(firsts, axis=1, bitorder="little", count=layout.size)
    shown: list[list[tuple[int, int, Value]]] = [[] for _ in bits]  # first and last bit of each piece of a column
    for memory in memories:
        at = 0
        for piece in memory.pieces:
            word = memory.word if len(memory.pieces) == 1 else memory.word[at : at + piece.width]
            shown[piece.column].append((piece.low, piece.low + piece.width, word))
            at += piece.width
    found = []
    for column, row in zip(shown, bits, strict=True):
        parts: list[Value] = []
        end = 0
        for low, high, word in [*column, (layout.size, layout.size, Const(0, 0))]:
            parts += [Const(int(bit), 1) for bit in row[end:low]]
            parts.append(word)
            end = high
        found.append(column[0][2] if len(column) == 1 and len(column[0][2]) == layout.size else Cat(parts))
    return found


def _pieces(places: Sequence[Sequence[int]]) -> list[Piece]:
    """Neighbouring bits of a column, by column and place, as pieces."""
    found: list[Piece] = []
    for column, place_ in places:
        if found and found[-1].column == column and found[-1].low + found[-1].width == place_:
            found[-1] = dataclasses.replace(found[-1], width=found[-1].width + 1)
        else:
            found.append(Piece(column=column, low=place_, width=1))
    return found
