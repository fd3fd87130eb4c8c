"""Steps: any rising function of an integer, by an estimate that is right or one too low, and the position of each step.

    e = saturate(((p * multiplier) >> shift) + zero_point), at most the largest result less one
    y = e + (p >= thresholds[e])

The thresholds define the function; the estimate only selects the nearest of them. So every rising function that stays
near a line is exact, however it treats ties.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..formats import IntFormat

__all__ = ["Steps"]

_STEEP = 1 << 12  # a multiplier that saturates every result except the result for 0
_MOST_SHIFT = 44


@dataclass(frozen=True, kw_only=True)
class Steps:
    """The constants. `thresholds` [255]: for each result but the largest, in order, the smallest p beyond it."""

    multiplier: int
    shift: int
    zero_point: int
    thresholds: tuple[int, ...]
    output: IntFormat

    @classmethod
    def of(cls, results: npt.NDArray[np.integer], low: int, slope: float, zero_point: int, output: IntFormat) -> Steps:
        """The steps of the least shift that give `results` of `output` for p = low, low + 1, ...

        Without rounding and saturation they lie on the line slope * p + zero_point; the slope is not negative. Raises
        ValueError where they fall, or are too far from it.
        """
        y = np.asarray(results, np.int64)
        if (np.diff(y) < 0).any():
            raise ValueError("the results must rise")
        p = np.arange(low, low + len(y))
        places = low + np.searchsorted(y, np.arange(output.min, output.max), side="right")
        for shift in range(_MOST_SHIFT + 1):
            multiplier = int(min(np.rint(slope * 2.0**shift), _STEEP << shift))
            found = cls(
                multiplier=multiplier,
                shift=shift,
                zero_point=zero_point,
                thresholds=tuple(map(int, places)),
                output=output,
            )
            if np.isin(y - found.estimate(p), (0, 1)).all():
                return found
        raise ValueError("the results must be those of a line, rounded and saturated")

    def estimate(self, p: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The result, or one less."""
        found: npt.NDArray[np.int64] = np.clip(
            (p * self.multiplier >> self.shift) + self.zero_point, self.output.min, self.output.max - 1
        )
        return found

    def apply(self, p: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """The results for integers from the range that they were made for."""
        estimate = self.estimate(p)
        y: npt.NDArray[Any] = estimate + (p >= np.array(self.thresholds)[estimate - self.output.min])
        return y.astype(self.output.dtype)
