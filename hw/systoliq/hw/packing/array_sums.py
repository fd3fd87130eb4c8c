"""Sums of a bare array as the words that the hardware gives: integers modulo the accumulator, or float8 with flags."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.accumulate import exact_matmul
from systoliq.golden.float8_matmul import Numbers, Sums, exact_sums
from systoliq.golden.wide import LIMB_BITS

from ..config import ArrayConfig

__all__ = ["array_sums", "sum_words"]


def array_sums(a: npt.NDArray[Any], b: npt.NDArray[Any], config: ArrayConfig) -> npt.NDArray[Any]:
    """The sums a @ b, [M, K] x [K, N]: signed, modulo 2^accumulator_bits; with float8, words (see `sum_words`)."""
    if config.float8:
        return sum_words(exact_sums(*map(Numbers.of, (a, b), config.float8)), config)
    half = 1 << config.accumulator_bits - 1
    return (exact_matmul(a.astype(np.int64), b.astype(np.int64)) + half) % (2 * half) - half


def sum_words(sums: Sums, config: ArrayConfig) -> npt.NDArray[Any]:
    """The words of exact `sums` of any shape, in the unit of the formats: Python's integers, not negative."""
    magnitude = sum(limb.astype(object) << LIMB_BITS * i for i, limb in enumerate(sums.numbers.limbs))
    number = np.where(sums.numbers.negative, -magnitude, magnitude) % (1 << config.accumulator_bits)
    flags = sums.flags if config.flag_bits == 2 else sums.flags == 3
    words: npt.NDArray[Any] = number + (flags.astype(object) << config.accumulator_bits)
    return words
