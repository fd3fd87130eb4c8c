"""The words of a bare array: tiles of A and B, and the sums of its columns."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.words import Flags, Integers, Words, bytes_of, from_words, to_words

from ..bare_array import BareArray

__all__ = ["ArrayPacking"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ArrayPacking:
    """Beats of a `BareArray` for A [m, k] times B [k, n], in tiles: all columns of a row of tiles, then the next."""

    array: BareArray
    m: int
    k: int
    n: int

    @staticmethod
    def facts(array: BareArray) -> dict[str, Any]:
        """The packing in words, ready for JSON."""
        config = array.config
        return {
            letter: {
                "element_bits": operand.bits,
                "elements_per_beat": vectors * config.depth,
                "layout": f"beat t of a tile carries, for each {what} v, its elements t * {config.depth} + i of K for "
                f"i = 0..{config.depth - 1} at bits (v * {config.depth} + i) * {operand.bits} and up; fill up with "
                "zeros where K is no multiple of depth",
            }
            for letter, operand, vectors, what in (
                ("a", config.a, config.rows, "row"),
                ("b", config.b, config.cols, "column"),
            )
        }

    @property
    def tiles(self) -> tuple[int, int]:
        """Tiles down and across."""
        config = self.array.config
        return -(-self.m // config.rows), -(-self.n // config.cols)

    @property
    def beats(self) -> int:
        """Beats of one tile."""
        return -(-self.k // self.array.config.depth)

    @property
    def sums_bytes(self) -> int:
        """Bytes of the word of all columns' sums."""
        return bytes_of(self.array.config.cols * self.array.config.word_bits)

    def pack(self, a: npt.NDArray[np.integer], b: npt.NDArray[np.integer]) -> tuple[Words, Flags, Words]:
        """Words of A, which of them end a tile, and words of B; pads are zeros."""
        config, (down, across) = self.array.config, self.tiles
        rows, cols, depth, beats = config.rows, config.cols, config.depth, self.beats
        padded_a = np.zeros((down * rows, beats * depth), config.a.dtype)  # each is repeated for a whole row of tiles
        padded_a[: self.m, : self.k] = a
        padded_b = np.zeros((beats * depth, across * cols), config.b.dtype)
        padded_b[: self.k, : self.n] = b
        tiles_a = padded_a.reshape(down, 1, rows, beats, depth).transpose(0, 1, 3, 2, 4)
        tiles_a = np.broadcast_to(tiles_a, (down, across, beats, rows, depth))
        tiles_b = padded_b.reshape(1, beats, depth, across, cols).transpose(0, 3, 1, 4, 2)
        tiles_b = np.broadcast_to(tiles_b, (down, across, beats, cols, depth))
        last = np.zeros((down * across, beats), bool)
        last[:, -1] = True
        words_a = tiles_a.reshape(-1, rows * depth)
        words_b = tiles_b.reshape(-1, cols * depth)
        return (
            to_words(words_a, config.a.bits, bytes_of(rows * depth * config.a.bits)),
            last.reshape(-1),
            to_words(words_b, config.b.bits, bytes_of(cols * depth * config.b.bits)),
        )

    def expect(self, sums: npt.NDArray[Any]) -> Words:
        """Words of sums [m, n] (of float8: `sum_words`): word i holds sum i of each column, one after the other."""
        config, (down, across) = self.array.config, self.tiles
        padded = np.zeros((down * config.rows, across * config.cols), sums.dtype)
        padded[: self.m, : self.n] = sums
        tiles = padded.reshape(down, config.rows, across, config.cols).transpose(0, 2, 1, 3)
        return to_words(tiles.reshape(-1, config.cols), config.word_bits, self.sums_bytes)

    def unpack(self, valid: Integers, words: Words) -> tuple[npt.NDArray[Any], Flags, Integers]:
        """Sums [m, n], which of them came, and how many sums each column gave too many.

        `valid` [n] holds, per recorded cycle, the columns' valid bits [n, cols]; `words` the word of sums.
        """
        config, (down, across) = self.array.config, self.tiles
        sums = from_words(words, config.word_bits, config.cols, signed=not config.float8)
        per_column = down * across * config.rows
        padded = np.zeros((down, config.rows, across, config.cols), sums.dtype)
        there = np.zeros(padded.shape, bool)
        surplus = np.zeros(config.cols, np.int64)
        for column in range(config.cols):
            given = sums[valid[:, column] != 0, column]
            surplus[column] = max(len(given) - per_column, 0)
            index = np.arange(min(len(given), per_column))
            tile, row = np.divmod(index, config.rows)
            padded[tile // across, row, tile % across, column] = given[: len(index)]
            there[tile // across, row, tile % across, column] = True
        shape = (down * config.rows, across * config.cols)
        return padded.reshape(shape)[: self.m, : self.n], there.reshape(shape)[: self.m, : self.n], surplus
