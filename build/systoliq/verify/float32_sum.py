"""The float32 formula of an addition, in exact rational arithmetic.

An independent implementation, written from docs/networks.md and IEEE 754 alone, without numpy and without
`systoliq.golden`. With f() rounding to float32, y = rint(fma(a, ra, fma(b, rb, c))), saturated, where ra = f(a_scale /
y_scale), rb = f(b_scale / y_scale) and c = f(zy - fma(ra, za, f(rb * zb))); an fma rounds once.
"""

from __future__ import annotations

import functools
from fractions import Fraction

from .float32 import TOO_LARGE, Format, float32, nearest, shortened, split
from .package import RefusedError

__all__ = ["float32_sums"]

_TOO_FAR = "the scales are so far apart that float32 does not hold the sum"


def float32_sums(
    operand: Format, output: Format, scales: dict[str, float], zero_points: dict[str, int], *, exchanged: bool
) -> list[list[int]]:
    """Return the sums of all pairs of codes, by the first operand, then the second; `exchanged`: the second is a.

    Raises RefusedError if an intermediate number is not finite.
    """
    a, b, y = (scales[letter] for letter in "aby")
    za, zb, zy = (zero_points[letter] for letter in "aby")
    return _sums(operand, output, (a, b, y), (za, zb, zy), exchanged)


@functools.lru_cache(maxsize=4)
def _sums(
    operand: Format,
    output: Format,
    scales: tuple[float, float, float],
    zero_points: tuple[int, int, int],
    exchanged: bool,
) -> list[list[int]]:
    a_scale, b_scale, y_scale = map(Fraction, scales)
    ra, rb = _finite(a_scale / y_scale), _finite(b_scale / y_scale)
    za, zb, zy = zero_points
    if exchanged:
        ra, rb, za, zb = rb, ra, zb, za
    offset = _finite(zy - _finite(ra * za + _finite(rb * zb)))
    codes = range(operand[0], operand[1] + 1)
    inner = [_finite(b * rb + offset) for b in codes]
    products = [a * ra for a in codes]
    unit = min(split(value)[1] for value in (*inner, *products))  # all are multiples of 2^unit
    inner_units, product_units = ([_in_units(value, unit) for value in values] for values in (inner, products))
    sums = [[_sum(product + rest, unit, output) for rest in inner_units] for product in product_units]
    return [list(row) for row in zip(*sums, strict=True)] if exchanged else sums


def _finite(value: Fraction) -> Fraction:
    """`value` as a float32."""
    rounded = float32(value)
    if abs(rounded) >= TOO_LARGE:
        raise RefusedError(_TOO_FAR)
    return rounded


def _in_units(value: Fraction, unit: int) -> int:
    """`value` / 2^unit, an integer."""
    mantissa, exponent = split(value)
    return mantissa << (exponent - unit)


def _sum(total: int, unit: int, output: Format) -> int:
    """total * 2^unit rounded to float32 and then to an integer, saturated."""
    mantissa, exponent = shortened(total, unit)
    if abs(mantissa) << max(exponent, 0) >= TOO_LARGE << max(-exponent, 0):
        raise RefusedError(_TOO_FAR)
    return min(max(nearest(mantissa, exponent), output[0]), output[1])
