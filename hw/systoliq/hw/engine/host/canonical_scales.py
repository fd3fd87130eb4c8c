"""Canonical scales: every float32 scale as one that is finite and not negative, which the hardware takes.

The float32 formula is y = rint(clip(f32(acc) * s, min - zp, max - zp)) + zp, and NaN gives min (`systoliq.golden`).

* s < 0: the product changes its sign, and the bounds their places: y = ~y', where ~ is the complement of y's bits and
  y' the result for -s and the zero point ~zp. That holds for every int32, -2^31 too, which has no opposite.
* s infinite: an infinity of acc's sign saturates, and 0 * infinity is NaN and gives min. So does a scale of 2^8 with
  the zero point min.
* s NaN: min, as a scale of 0 gives with the zero point min.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.formats import IntFormat

__all__ = ["CanonicalScales", "canonical_scales"]


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class CanonicalScales:
    """Columns (indices) with finite scales >= 0 and one zero point; their y is ~ of the result, if `complemented`."""

    columns: npt.NDArray[np.intp]
    scale: npt.NDArray[np.float32]
    zero_point: int
    complemented: bool


def canonical_scales(scale: npt.NDArray[Any], zero_point: int, output: IntFormat) -> Iterator[CanonicalScales]:
    """The columns of `scale` (float32 [n], any values), those with equal zero points and complements together."""
    finite, complemented = np.isfinite(scale), scale < 0
    magnitude = np.nan_to_num(np.abs(scale), nan=0.0, posinf=2.0**output.bits)
    for is_finite in (True, False):
        for is_complemented in (False, True):
            columns = np.flatnonzero((finite == is_finite) & (complemented == is_complemented))
            if columns.size:
                own = zero_point if is_finite else output.min
                yield CanonicalScales(
                    columns=columns,
                    scale=magnitude[columns],
                    zero_point=output.min + output.max - own if is_complemented else own,  # ~own
                    complemented=is_complemented,
                )
