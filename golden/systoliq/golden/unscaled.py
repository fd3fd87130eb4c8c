"""Unscaled results: what replaces a requantization if the results are the int32 sums themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .formats import INT32, IntFormat


@dataclass(frozen=True)
class Unscaled:
    """A requantization without constants and rounding: results are the accumulators."""

    output: ClassVar[IntFormat] = INT32

    def apply(self, acc: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return the int32 accumulators [..., N] unchanged."""
        accumulators = np.asarray(acc)
        if accumulators.dtype != np.int32:
            raise TypeError(f"acc must be int32, not {accumulators.dtype.name}")
        return accumulators
