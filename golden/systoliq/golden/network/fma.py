"""Fused multiply-add in float32 with one rounding, as in processors, by float64 arithmetic.

The product of two float32 is exact in float64. Its sum with a third is rounded to odd there: an inexact sum gets a last
bit of 1, by the exact error from Knuth's two-sum. Since 53 bits are more than 24 + 2, the rounding to float32 is then
the only one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["fma32"]


def fma32(a: npt.ArrayLike, b: npt.ArrayLike, c: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """f32(a * b + c) of float32 arrays, rounded once, half to even; broadcast."""
    x, y, z = (np.asarray(each, np.float32).astype(np.float64) for each in (a, b, c))
    with np.errstate(all="ignore"):
        product = x * y
        total = np.asarray(product + z)
        back = total - product
        error = (product - (total - back)) + (z - back)  # exact: product + z == total + error
        bits = total.view(np.int64)
        inexact = np.isfinite(total) & (error != 0) & (bits & 1 == 0)
        # an even last bit: of both odd neighbours the one on the side of the error; magnitudes order the bits
        step = np.where((error > 0) == (total > 0), 1, -1)
        odd = np.where(inexact, bits + step, bits).view(np.float64)
        return np.asarray(odd.astype(np.float32))
