"""Operand layout: matrices as the words of the engine's streams, and the stream of Y as a matrix.

With R = rows, C = cols, D = depth and L = lanes of the engine, bytes of a word counted from its least significant:

* A: word g * ceil(K / D) + t holds A[g R + r, t D + d] in byte r D + d;
* B: word h * ceil(K / D) + t holds B[t D + d, h C + c] in byte p D + d, where c = (p mod C/L) * L + p div C/L:
  the array's columns are sorted by the lane that serves them;
* Y: for each g, for each h, for each row of A in g: the columns of B in h, one or four bytes each, without gaps.

Elements beyond M, K or N may be anything.

With the weight-stationary dataflow, word q * M + m of A holds A[m, q R D + i] in byte i, and all rows of A are one g.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.hw.engine import EngineConfig

__all__ = ["column_order", "pack_a", "pack_b", "unpack_y", "y_beats"]

Array = npt.NDArray[Any]
Words = npt.NDArray[np.uint8]


def pack_a(config: EngineConfig, a: Array, *, fill: int = 0) -> Words:
    """Words [groups * beats, rows * depth] of A [m, k]; `fill` is put where A has nothing."""
    if config.dataflow == "weight-stationary":  # chunk after chunk of K, a word for each row
        words = _pack(a, 1, config.rows * config.depth, fill, None)
        by_chunk = words.reshape(len(a), -1, words.shape[1]).transpose(1, 0, 2)
        return np.ascontiguousarray(by_chunk.reshape(words.shape))
    return _pack(a, config.rows, config.depth, fill, None)


def pack_b(config: EngineConfig, b: Array, *, fill: int = 0) -> Words:
    """Words [column tiles * beats, cols * depth] of B [k, n]."""
    return _pack(b.T, config.cols, config.depth, fill, column_order(config.cols, config.lanes))


def column_order(cols: int, lanes: int) -> Array:
    """Column of a tile of B that stands in each place of a word."""
    order: Array = np.arange(cols).reshape(cols // lanes, lanes).T.reshape(-1)
    return order


def _pack(operand: Array, span: int, depth: int, fill: int, order: Array | None) -> Words:
    length, k = operand.shape
    outer, beats = -(-length // span), -(-k // depth)
    padded = np.full((outer * span, beats * depth), fill, np.uint8)
    padded[:length, :k] = operand.view(np.uint8) if operand.flags.c_contiguous else operand.astype(np.uint8)
    words = padded.reshape(outer, span, beats, depth).transpose(0, 2, 1, 3)
    if order is not None:
        words = words[:, :, order]
    return np.ascontiguousarray(words.reshape(outer * beats, span * depth))


def unpack_y(config: EngineConfig, data: bytes, m: int, n: int, dtype: np.dtype[Any]) -> Array:
    """Y [m, n] from the bytes of its stream, those without ``tkeep`` left out."""
    values = np.frombuffer(data, np.dtype(dtype).newbyteorder("<"))
    if len(values) != m * n:
        raise ValueError(f"data must hold {m * n} results, not {len(values)}")
    y = np.empty((m, n), dtype)
    at = 0
    group = m if config.dataflow == "weight-stationary" else config.rows
    for row in range(0, m, group):
        for column in range(0, n, config.cols):
            block = y[row : row + group, column : column + config.cols]
            block[...] = values[at : at + block.size].reshape(block.shape)
            at += block.size
    return y


def y_beats(config: EngineConfig, m: int, n: int, dtype: np.dtype[Any]) -> int:
    """Beats in the stream of Y: all are full but the last."""
    return -(-m * n * np.dtype(dtype).itemsize // (4 * config.lanes))
