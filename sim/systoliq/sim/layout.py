"""How matrices lie in the words of the ports: numpy in, bytes of beats out, and back.

A word is a row of bytes, least significant first, as AXI4-Stream numbers them; elements stand in it side by side
without gaps, the first in the lowest bits.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from systoliq.golden import IntFormat
from systoliq.hw import BareArray, Dense

__all__ = ["ArrayLayout", "DenseLayout", "from_words", "to_words"]

Words = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]


_WHOLE = (8, 16, 32)  # widths that numpy has a type for: an order of magnitude faster than bit by bit


def to_words(elements: npt.NDArray[np.integer], bits: int, word_bytes: int) -> Words:
    """Pack elements [n, count], of `bits` bits each, into words [n, word_bytes]; two's complement, zeros above."""
    n, count = elements.shape
    if bits in _WHOLE:
        packed = np.ascontiguousarray(elements.astype(f"<i{bits // 8}")).view(np.uint8)
    else:
        single = (elements.astype(np.int64)[:, :, None] >> np.arange(bits)) & 1
        packed = np.packbits(single.astype(np.uint8).reshape(n, count * bits), axis=1, bitorder="little")
    words = np.zeros((n, word_bytes), np.uint8)
    words[:, : packed.shape[1]] = packed
    return words


def from_words(words: Words, bits: int, count: int, *, signed: bool) -> Integers:
    """Read the first `count` elements of each word [n, word_bytes]: [n, count]."""
    if bits in _WHOLE:
        used = np.ascontiguousarray(words[:, : count * bits // 8])
        return used.view(f"<{'i' if signed else 'u'}{bits // 8}").astype(np.int64)
    single = np.unpackbits(words, axis=1, bitorder="little")[:, : count * bits].reshape(len(words), count, bits)
    weights = np.int64(1) << np.arange(bits, dtype=np.int64)
    if signed:
        weights[-1] = -weights[-1]
    values: Integers = single.astype(np.int64) @ weights
    return values


def _port_bytes(bits: int) -> int:
    return -(-bits // 8)


def _any(rng: np.random.Generator, operand: IntFormat, shape: tuple[int, ...]) -> Integers:
    """Anything at all: what stands where the hardware must not look."""
    return rng.integers(operand.min, operand.max, shape, endpoint=True, dtype=np.int64)


class DenseLayout:
    """Beats of a `Dense` layer for batches of rows of A, one after the other.

    `batches` holds the number of rows of each batch; a batch begins with a group of its own.
    """

    def __init__(self, dense: Dense, batches: Sequence[int]) -> None:
        self.dense = dense
        self.batches = tuple(batches)
        rows = dense.config.rows
        groups = [dense.schedule.groups(count) for count in self.batches]
        self.groups = sum(groups)
        # The row of A that is row r of group g, or -1: [groups * rows].
        self._rows = np.full(self.groups * rows, -1, np.int64)
        start = row = 0
        for count, used in zip(self.batches, groups, strict=True):
            self._rows[start : start + count] = np.arange(row, row + count)
            start, row = start + used * rows, row + count
        self._last_groups = np.cumsum(groups) - 1

    @property
    def a_bytes(self) -> int:
        """Bytes of a word of A."""
        config = self.dense.config
        return _port_bytes(config.rows * config.depth * config.a.bits)

    @property
    def y_bytes(self) -> int:
        """Bytes of a word of Y."""
        return _port_bytes(self.dense.schedule.lanes * self._output.bits)

    @property
    def _output(self) -> IntFormat:
        return self.dense.requantization.output

    def pack(self, a: npt.NDArray[np.integer], seed: int = 0) -> tuple[Words, npt.NDArray[np.bool_]]:
        """Words of A [M, K], and which of them end a batch; pads hold anything, drawn from `seed`."""
        config, schedule = self.dense.config, self.dense.schedule
        shape = (self.groups * config.rows, schedule.beats * config.depth)
        padded = _any(np.random.default_rng(seed), config.a, shape)
        real = self._rows >= 0
        padded[real, : schedule.k] = a[self._rows[real]]
        beats = padded.reshape(self.groups, config.rows, schedule.beats, config.depth).transpose(0, 2, 1, 3)
        last = np.zeros((self.groups, schedule.beats), bool)
        last[self._last_groups, -1] = True
        words = to_words(beats.reshape(-1, config.rows * config.depth), config.a.bits, self.a_bytes)
        return words, last.reshape(-1)

    def places(self) -> tuple[Integers, Integers]:
        """Row and column of Y of each element of each beat, -1 where it means nothing: two arrays [beats, lanes]."""
        config, schedule = self.dense.config, self.dense.schedule
        row_in_group, column = [], []
        lane = np.arange(schedule.lanes)
        for tile in range(schedule.column_tiles):
            for row in range(config.rows):
                for step in range(schedule.steps(tile)):
                    row_in_group.append(row)
                    column.append(tile * config.cols + step * schedule.lanes + lane)
        columns = np.tile(np.array(column), (self.groups, 1))
        within = np.array(row_in_group)
        rows = self._rows[(np.arange(self.groups)[:, None] * config.rows + within).reshape(-1)]
        rows = np.broadcast_to(rows[:, None], columns.shape)
        meant = (rows >= 0) & (columns < schedule.n)
        return np.where(meant, rows, -1), np.where(meant, columns, -1)

    def y_last(self) -> npt.NDArray[np.bool_]:
        """Which beats of Y end a batch."""
        per_group = self.dense.config.rows * self.dense.schedule.row_steps
        last = np.zeros((self.groups, per_group), bool)
        last[self._last_groups, -1] = True
        return last.reshape(-1)

    def expect(self, y: npt.NDArray[np.integer]) -> tuple[Words, Words]:
        """Words of Y [M, N], and masks with ones where a word means something."""
        rows, columns = self.places()
        meant = rows >= 0
        values = np.where(meant, y[rows, columns].astype(np.int64), 0)
        masks = np.where(meant, -1, 0)
        return to_words(values, self._output.bits, self.y_bytes), to_words(masks, self._output.bits, self.y_bytes)

    def unpack(self, words: Words) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.bool_]]:
        """Y [M, N] in the output's type, and which of it the words held; words may be missing at the end."""
        rows, columns = self.places()
        count = min(len(words), len(rows))
        values = from_words(words[:count], self._output.bits, self.dense.schedule.lanes, signed=self._output.signed)
        y = np.zeros((sum(self.batches), self.dense.schedule.n), self._output.dtype)
        there = np.zeros(y.shape, bool)
        meant = rows[:count] >= 0
        index = rows[:count][meant], columns[:count][meant]
        y[index] = values[meant]
        there[index] = True
        return y, there


@dataclasses.dataclass(frozen=True, kw_only=True)
class ArrayLayout:
    """Beats of a `BareArray` for A [m, k] times B [k, n], in tiles: all columns of a row of tiles, then the next."""

    array: BareArray
    m: int
    k: int
    n: int

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
        return _port_bytes(self.array.config.cols * self.array.config.accumulator_bits)

    def pack(
        self, a: npt.NDArray[np.integer], b: npt.NDArray[np.integer]
    ) -> tuple[Words, npt.NDArray[np.bool_], Words]:
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
            to_words(words_a, config.a.bits, _port_bytes(rows * depth * config.a.bits)),
            last.reshape(-1),
            to_words(words_b, config.b.bits, _port_bytes(cols * depth * config.b.bits)),
        )

    def unpack(self, valid: Integers, words: Words) -> tuple[Integers, npt.NDArray[np.bool_], Integers]:
        """Sums [m, n], which of them came, and how many sums each column gave too many.

        `valid` [n] holds, per recorded cycle, the columns' valid bits [n, cols]; `words` the word of sums.
        """
        config, (down, across) = self.array.config, self.tiles
        sums = from_words(words, config.accumulator_bits, config.cols, signed=True)
        per_column = down * across * config.rows
        padded = np.zeros((down, config.rows, across, config.cols), np.int64)
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
