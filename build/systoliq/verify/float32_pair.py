"""The float32 functions of two numbers between DequantizeLinear and QuantizeLinear, in exact rational arithmetic.

An independent implementation, written from docs/networks.md and IEEE 754 alone, without numpy and without
`systoliq.golden`. With f() rounding to float32, y = rint(f(r / y_scale)) + zy, saturated, where r is the lesser or
greater of f(a_scale (a - za)) and f(b_scale (b - zb)), or their sum or difference, rounded to float32.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction

from .float32 import Format, float32
from .package import RefusedError

__all__ = ["float32_pairs"]

_FUNCTIONS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "sum": lambda a, b: float32(a + b),
    "difference": lambda a, b: float32(a - b),
    "minimum": min,
    "maximum": max,
}


def float32_pairs(
    operand: Format, output: Format, scales: dict[str, float], zero_points: dict[str, int], *, function: str
) -> list[list[int]]:
    """Return the results of all pairs of codes, by the first operand, then the second.

    Raises RefusedError if there is no such `function`.
    """
    if function not in _FUNCTIONS:
        raise RefusedError(f"function must be one of {', '.join(_FUNCTIONS)}, not {function!r}")
    real = {
        letter: [
            float32((code - zero_points[letter]) * Fraction(scales[letter]))
            for code in range(operand[0], operand[1] + 1)
        ]
        for letter in "ab"
    }
    scale, zero_point = Fraction(scales["y"]), zero_points["y"]
    least, most = output[0] - zero_point, output[1] - zero_point

    @functools.cache  # a minimum or maximum has few different values
    def result(value: Fraction) -> int:
        return min(max(round(float32(value / scale)), least), most) + zero_point

    compute = _FUNCTIONS[function]
    return [[result(compute(a, b)) for b in real["b"]] for a in real["a"]]
