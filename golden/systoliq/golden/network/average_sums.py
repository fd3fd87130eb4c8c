"""Windowed averages as functions of the integer sum: which sums float32 may round to another integer.

onnxruntime adds float32 numbers pixel by pixel. With u = 2^-24, n pixels, Q the largest |x - zx| and r = x_scale / (n
y_scale), its result before rint differs from the true sum r + zy by at most

    r Q (n + (1 + u)^n (n (n + 1) / 2 - 1)) u (1 + u)^3  +  4 * 256 u

The first term is the rounding of n entries, and of n - 1 additions whose partial sums are at most k Q x_scale; the
second that of two divisions and the addition of zy, where the result is not saturated. The requantizer of an integer
sum rounds at most four times, so the second term bounds its error, too. Both are therefore the true average rounded
once, unless a sum is this close to a tie.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..rescale import requantize_float32
from .tensor import Tensor

__all__ = ["uncertain_sum"]

_UNIT = Fraction(1, 1 << 24)  # half a last place of float32, relative
_UNSATURATED = 256  # no result beyond this is a tie between two integers of 8 bits
_ROUNDINGS = 4
_SLACK = 1 + Fraction(1, 1 << 16)  # for products of roundings
_EXACT = 1 << 24  # integers up to this are float32 numbers
_NORMAL = Fraction(1, 1 << 80), Fraction(1 << 80)  # scales with which no number is subnormal or overflows


def uncertain_sum(
    x: Tensor,
    y: Tensor,
    counts: npt.NDArray[np.int64],
    scale: npt.NDArray[np.float32],
    rounded: Callable[[npt.NDArray[Any], int], npt.NDArray[Any]],
) -> int | None:
    """Return a sum of (x - zero point) of a window for which the float32 result may differ from the requantized sum;
    None if there is none.

    `counts` are the pixels of the windows, all the same, `scale` that of a sum in units of y, and `rounded` the float32
    result of a sum of real numbers and its number of pixels.

    Raises ValueError if scales are beyond 2^-80 to 2^80.
    """
    n = int(counts.max())
    for tensor in (x, y):
        if not _NORMAL[0] <= Fraction(float(tensor.scale)) <= _NORMAL[1]:
            raise ValueError(f"the scale of {tensor.name!r} must be 2^-80 to 2^80, not {float(tensor.scale):.6g}")
    low, high = (n * (end - x.zero_point) for end in (x.format.min, x.format.max))
    if _adds_exactly(float(x.scale), max(-low, high)):
        return _unlike(x, y, scale, lambda real: rounded(real, n), low, high)
    ratio = Fraction(float(x.scale)) / Fraction(float(y.scale)) / n
    bound = error_bound(n, max(-low, high) // n, ratio)
    for tie in range(y.format.min - y.zero_point, y.format.max - y.zero_point):
        at = Fraction(2 * tie + 1, 2) / ratio
        for total in (at.__floor__(), at.__ceil__()):
            if low <= total <= high and abs(total - at) * ratio <= bound:
                return total
    return None


def error_bound(pixels: int, largest: int, ratio: Fraction) -> Fraction:
    """Return the bound above, in units of the output, for `pixels` integers up to `largest`."""
    growth = 1 + 2 * pixels * _UNIT  # at least (1 + u)^n up to 2^23 pixels
    sums = ratio * largest * (pixels + growth * (Fraction(pixels * (pixels + 1), 2) - 1)) * _UNIT
    return _SLACK * (sums + _ROUNDINGS * _UNSATURATED * _UNIT)


def _adds_exactly(scale: float, most: int) -> bool:
    """True if float32 holds all multiples of `scale` up to `most`, so that no addition rounds."""
    mantissa = scale.as_integer_ratio()[0]
    return (mantissa // (mantissa & -mantissa)) * most <= _EXACT


def _unlike(
    x: Tensor,
    y: Tensor,
    scale: npt.NDArray[np.float32],
    rounded: Callable[[npt.NDArray[Any]], npt.NDArray[Any]],
    low: int,
    high: int,
) -> int | None:
    """The first sum from `low` to `high` whose float32 result is not the requantized one; sums are exact."""
    for start in itertools.count(low, 1 << 20):
        totals = np.arange(start, min(start + (1 << 20), high + 1))
        if not len(totals):
            return None
        real = totals.astype(np.float32) * x.scale
        results = rounded(real)
        wrong = results != requantize_float32(totals, scale, y.zero_point, y.format)
        if wrong.any():
            return int(totals[wrong.argmax()])
    return None
