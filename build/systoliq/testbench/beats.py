"""Beats: the words of a stream as the testbenches send and expect them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden import Float8Format, IntFormat
from systoliq.hw.packing import Flags, Words, to_integers

__all__ = ["SEED", "Beat", "beats_of", "random_operands", "spans"]

SEED = 2026  # of all stimuli
_ODD = 0.02  # share of float8 codes that may be no number


@dataclass(frozen=True, kw_only=True)
class Beat:
    """One beat of an input stream: the word on tdata, and tlast."""

    word: int
    last: bool = False


def beats_of(words: Words, last: Flags) -> tuple[Beat, ...]:
    """Words as beats, and which of them end something."""
    return tuple(Beat(word=word, last=end) for word, end in zip(to_integers(words), last.tolist(), strict=True))


def random_operands(
    fmt: IntFormat | Float8Format, shape: tuple[int, ...], generator: np.random.Generator
) -> npt.NDArray[Any]:
    """Anything in `fmt`, its extremes included; of float8 mostly numbers, or every sum would be NaN."""
    if isinstance(fmt, Float8Format):
        every = np.arange(256, dtype=np.uint8)
        decoded = fmt.decode(every)
        numbers = every[~decoded.nan & (decoded.infinity == 0)]
        odd = generator.random(shape) < _ODD
        codes = np.where(odd, generator.choice(every, shape), generator.choice(numbers, shape))
        return codes.astype(np.uint8).view(fmt.dtype)
    return generator.integers(fmt.min, fmt.max + 1, shape).astype(fmt.dtype)


def spans(lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Start and stop of consecutive pieces of these lengths."""
    ends = np.cumsum(lengths).tolist()
    return zip([0, *ends], ends, strict=False)
