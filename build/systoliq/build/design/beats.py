"""Beats: the words of a stream as the testbenches send and expect them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.formats import IntFormat

__all__ = ["SEED", "Beat", "operand_beats", "pack", "random_operands", "spans"]

SEED = 2026  # of all stimuli


@dataclass(frozen=True, kw_only=True)
class Beat:
    """One beat of an input stream: the word on tdata, and tlast."""

    word: int
    last: bool = False


def operand_beats(operands: npt.NDArray[Any], fmt: IntFormat, depth: int) -> list[Beat]:
    """Operands [vectors, K] as beats: `depth` neighbours of each vector, the first of the first in the lowest bits."""
    vectors, k = operands.shape
    padded = np.zeros((vectors, -(-k // depth) * depth), np.int64)
    padded[:, :k] = operands
    words = padded.reshape(vectors, -1, depth).transpose(1, 0, 2).reshape(-1, vectors * depth)
    ends = len(words) - 1
    return [Beat(word=pack(word.tolist(), fmt.bits), last=i == ends) for i, word in enumerate(words)]


def pack(values: Sequence[int], bits: int) -> int:
    """`values` side by side, `bits` bits each, the first in the lowest bits."""
    mask = (1 << bits) - 1
    return sum((value & mask) << (index * bits) for index, value in enumerate(values))


def random_operands(fmt: IntFormat, shape: tuple[int, ...], generator: np.random.Generator) -> npt.NDArray[Any]:
    """Anything in `fmt`, its extremes included."""
    return generator.integers(fmt.min, fmt.max + 1, shape).astype(fmt.dtype)


def spans(lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Start and stop of consecutive pieces of these lengths."""
    ends = np.cumsum(lengths).tolist()
    return zip([0, *ends], ends, strict=False)
