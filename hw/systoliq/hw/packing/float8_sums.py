"""Sums of float8 products as the words that leave the array: the fixed-point sum, and its flags above it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.float8_matmul import Sums
from systoliq.golden.wide import LIMB_BITS

from ..config import ArrayConfig

__all__ = ["sum_words"]


def sum_words(sums: Sums, config: ArrayConfig) -> npt.NDArray[Any]:
    """The words of exact `sums` of any shape, in the unit of the formats: Python's integers, not negative."""
    magnitude = sum(limb.astype(object) << LIMB_BITS * i for i, limb in enumerate(sums.numbers.limbs))
    number = np.where(sums.numbers.negative, -magnitude, magnitude) % (1 << config.accumulator_bits)
    flags = sums.flags if config.flag_bits == 2 else sums.flags == 3
    words: npt.NDArray[Any] = number + (flags.astype(object) << config.accumulator_bits)
    return words
