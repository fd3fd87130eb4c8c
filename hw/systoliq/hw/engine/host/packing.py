"""The words of the engine: matrices as words of its streams, and the stream of Y as a matrix.

With R = rows, C = cols, D = depth and L = lanes of the engine, bytes of a word counted from its least significant:

* A: word g * ceil(K / D) + t holds A[g R + r, t D + d] in byte r D + d;
* B: word h * ceil(K / D) + t holds B[t D + d, h C + c] in byte p D + d, where c = (p mod C/L) * L + p div C/L:
  the array's columns are sorted by the lane that serves them;
* Y: for each g, for each h, for each row of A in g: the columns of B in h, one or four bytes each, without gaps.

Elements beyond M, K or N may be anything.

With the weight-stationary dataflow, word q * M + m of A holds A[m, q R D + i] in byte i, and all rows of A are one g.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden import IntFormat

from ...packing import Words, pads, to_words
from ..config import EngineConfig

__all__ = ["EnginePacking"]

Array = npt.NDArray[Any]
Pads = np.random.Generator | None


@dataclasses.dataclass(frozen=True)
class EnginePacking:
    """The words of jobs on an engine of `config`."""

    config: EngineConfig

    def facts(self) -> dict[str, Any]:
        """The packing in words, ready for JSON."""
        config = self.config
        rows, cols, depth, lanes = config.rows, config.cols, config.depth, config.lanes
        size = "1 byte each" if self.config.float8 else "1 byte each, or 4 where Y is int32"
        group = "all rows of A" if self._stationary_weights else f"each group of {rows} rows of A"
        return {
            "a": {
                "element_bits": 8,
                "elements_per_beat": rows * depth,
                "layout": f"word q * M + m holds A[m, q * {rows * depth} + i] in byte i"
                if self._stationary_weights
                else f"word g * ceil(K / {depth}) + t holds A[g * {rows} + r, t * {depth} + d] in byte r * {depth} + d",
            },
            "b": {
                "element_bits": 8,
                "elements_per_beat": cols * depth,
                "layout": f"word h * ceil(K / {depth}) + t holds B[t * {depth} + d, h * {cols} + c] in byte "
                f"p * {depth} + d, where c = (p mod {config.interval}) * {lanes} + p div {config.interval}",
            },
            "y": {
                "bytes_per_beat": 4 * lanes,
                "layout": f"for {group}, for each tile of {cols} columns, for each row: its columns of the tile, "
                f"{size}; the bytes that tkeep marks, one beat's after the other's",
            },
            "padding": "what lies beyond M, K or N in a word of A or B may be anything; the lowest byte is the first",
        }

    @property
    def _stationary_weights(self) -> bool:
        return self.config.dataflow == "weight-stationary"

    def pack_a(self, a: Array, generator: Pads = None) -> Words:
        """Words [groups * beats, rows * depth] of A [m, k]; see `pads` for the elements beyond A."""
        rows, depth = self.config.rows, self.config.depth
        if self._stationary_weights:  # chunk after chunk of K, a word for each row
            chunk = rows * depth
            padded = _padded(a, 1, chunk, generator)
            parts = padded.reshape(len(a), -1, chunk).transpose(1, 0, 2)
        else:
            padded = _padded(a, rows, depth, generator)
            parts = padded.reshape(-1, rows, padded.shape[1] // depth, depth).transpose(0, 2, 1, 3)
        return to_words(parts.reshape(-1, rows * depth), 8, rows * depth)

    def pack_b(self, b: Array, generator: Pads = None) -> Words:
        """Words [column tiles * beats, cols * depth] of B [k, n], likewise."""
        cols, depth, lanes = self.config.cols, self.config.depth, self.config.lanes
        padded = _padded(b, depth, cols, generator)
        # Axes: beat, depth, column tile, step, lane; a word has lane after lane.
        parts = padded.reshape(-1, depth, padded.shape[1] // cols, cols // lanes, lanes).transpose(2, 0, 4, 3, 1)
        return to_words(parts.reshape(-1, cols * depth), 8, cols * depth)

    def pack_y(self, y: Array) -> bytes:
        """Y [m, n] as the bytes of its stream, those without ``tkeep`` left out."""
        little = y.astype(y.dtype.newbyteorder("<"))
        return b"".join(little[block].tobytes() for block in self._blocks(*y.shape))

    def unpack_y(self, data: bytes, m: int, n: int, dtype: np.dtype[Any]) -> Array:
        """Y [m, n] from what `pack_y` gives."""
        values = np.frombuffer(data, np.dtype(dtype).newbyteorder("<"))
        if len(values) != m * n:
            raise ValueError(f"data must hold {m * n} results, not {len(values)}")
        y = np.empty((m, n), dtype)
        at = 0
        for place in self._blocks(m, n):
            block = y[place]
            block[...] = values[at : at + block.size].reshape(block.shape)
            at += block.size
        return y

    def _blocks(self, m: int, n: int) -> Iterator[tuple[slice, slice]]:
        """Parts of Y [m, n], row after row each, in the order in which they leave."""
        group = m if self._stationary_weights else self.config.rows
        for row in range(0, m, group):
            for column in range(0, n, self.config.cols):
                yield slice(row, row + group), slice(column, column + self.config.cols)

    def y_beats(self, m: int, n: int, dtype: np.dtype[Any]) -> int:
        """Beats in the stream of Y: all are full but the last."""
        return -(-m * n * np.dtype(dtype).itemsize // (4 * self.config.lanes))


def _padded(operand: Array, down: int, across: int, generator: Pads) -> Array:
    """`operand` filled up to whole multiples of these sizes."""
    height, width = operand.shape
    shape = (-(-height // down) * down, -(-width // across) * across)
    padded = pads(IntFormat.of(operand.dtype), shape, generator)
    padded[:height, :width] = operand
    return padded
