"""The float32 formula of a multiplication, in exact rational arithmetic.

An independent implementation, written from docs/networks.md and IEEE 754 alone, without numpy and without
`systoliq.golden`. With f() rounding to float32, y = rint(f(f(f((a - za) * (b - zb)) * scale) + zy)), saturated, where
scale = f(f(a_scale * b_scale) / y_scale).
"""

from __future__ import annotations

import math
from fractions import Fraction

from .float32 import Format, Split, combined_scale, nearest, shortened, split
from .package import RefusedError

__all__ = ["float32_products"]


def float32_products(
    operand: Format, output: Format, scales: dict[str, float], zero_points: dict[str, int]
) -> list[list[int]]:
    """Return the results of all pairs of codes, by the first operand, then the second.

    Raises RefusedError if the scale is not finite. An infinite product saturates as a large one does.
    """
    scale = combined_scale(scales["a"], scales["b"], scales["y"])
    if not math.isfinite(scale):
        raise RefusedError(f"the scale of the products, {scale}, is not finite")
    codes = range(operand[0], operand[1] + 1)
    products = [[(a - zero_points["a"]) * (b - zero_points["b"]) for b in codes] for a in codes]
    results = {
        product: _result(product, split(Fraction(scale)), zero_points["y"], output)
        for product in {each for row in products for each in row}
    }
    return [[results[product] for product in row] for row in products]


def _result(product: int, scale: Split, zero_point: int, output: Format) -> int:
    mantissa, exponent = shortened(product, 0)
    mantissa, exponent = shortened(mantissa * scale[0], exponent + scale[1])
    unit = min(exponent, 0)
    total = (mantissa << (exponent - unit)) + (zero_point << -unit)
    return min(max(nearest(*shortened(total, unit)), output[0]), output[1])
