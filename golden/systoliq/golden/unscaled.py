"""Unscaled: what stands in place of a requantization where results are the int32 sums themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .formats import INT32, IntFormat


@dataclass(frozen=True)
class Unscaled:
    """No constants, no rounding: accumulators are results."""

    output: ClassVar[IntFormat] = INT32

    def apply(self, acc: npt.ArrayLike) -> npt.NDArray[Any]:
        """The int32 accumulators [..., N] as they are."""
        accumulators = np.asarray(acc)
        if accumulators.dtype != np.int32:
            raise TypeError(f"acc must be int32, not {accumulators.dtype.name}")
        return accumulators
