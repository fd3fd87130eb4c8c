"""The float32 formula and the integer forms, in exact rational and integer arithmetic.

An independent implementation, written from docs/exactness.md and IEEE 754 alone, without numpy and without
`systoliq.golden`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from fractions import Fraction

__all__ = [
    "ROUNDINGS", "TOO_LARGE", "Format", "Split", "combined_scale", "float32", "float32_output", "integer_output",
    "nearest", "shortened", "split", "steps_digest", "steps_of",
]  # fmt: skip

_PRECISION = 24  # significant bits of a float32
_LEAST_EXPONENT = -149  # of its smallest subnormal
TOO_LARGE = 1 << 128  # what a number that rounds to this becomes infinity for
_NEAR = 1 << 10  # accumulators: how far rounding moves a threshold, at most, where they are below 2^31

Format = tuple[int, int]  # least and greatest output
Split = tuple[int, int]  # m and e of the number m * 2^e


def _half_even(numerator: int, denominator: int) -> int:
    """The nearest integer, the even one of two."""
    floor, rest = divmod(numerator, denominator)
    return floor + (2 * rest > denominator or (2 * rest == denominator and floor % 2 == 1))


def _exponent(numerator: int, denominator: int) -> int:
    """The e with 2^e <= |numerator / denominator| < 2^(e + 1)."""
    numerator = abs(numerator)
    guess = numerator.bit_length() - denominator.bit_length()
    return guess if numerator << max(-guess, 0) >= denominator << max(guess, 0) else guess - 1


def float32(value: Fraction) -> Fraction:
    """The float32 nearest to `value`, half to even; subnormals included, without an upper end."""
    numerator, denominator = value.numerator, value.denominator
    if not numerator:
        return value
    unit = max(_exponent(numerator, denominator) - (_PRECISION - 1), _LEAST_EXPONENT)
    if unit >= 0:
        return Fraction(_half_even(numerator, denominator << unit) << unit)
    return Fraction(_half_even(numerator << -unit, denominator), 1 << -unit)


def split(value: Fraction) -> Split:
    """A number whose denominator is a power of two, such as a float32, as (m, e)."""
    return value.numerator, 1 - value.denominator.bit_length()


def shortened(mantissa: int, exponent: int) -> Split:
    """The float32 nearest to mantissa * 2^exponent, as (m, e): what `float32` gives, with integers alone."""
    drop = max(abs(mantissa).bit_length() - _PRECISION, _LEAST_EXPONENT - exponent, 0)
    return _half_even(mantissa, 1 << drop), exponent + drop


def nearest(mantissa: int, exponent: int) -> int:
    """The integer nearest to mantissa * 2^exponent, half to even."""
    return mantissa << exponent if exponent >= 0 else _half_even(mantissa, 1 << -exponent)


def combined_scale(a_scale: float, b_scale: float, y_scale: float) -> float:
    """f32(f32(a_scale * b_scale) / y_scale) of float32 numbers, by the rules of IEEE 754; any of them may be odd."""
    sign = math.copysign(1.0, a_scale) * math.copysign(1.0, b_scale)
    product = _rounded(sign, math.nan if math.isnan(a_scale * b_scale) else _product(a_scale, b_scale))
    sign *= math.copysign(1.0, y_scale)
    if math.isnan(product) or math.isnan(y_scale) or (math.isinf(product) and math.isinf(y_scale)):
        return math.nan
    if math.isinf(product) or not y_scale:
        return math.copysign(math.inf, sign) if product else math.nan
    return _rounded(sign, Fraction(0) if math.isinf(y_scale) else Fraction(product) / Fraction(y_scale))


def _product(a: float, b: float) -> Fraction | float:
    return math.inf if math.isinf(a) or math.isinf(b) else Fraction(a) * Fraction(b)


def _rounded(sign: float, value: Fraction | float) -> float:
    """The magnitude of `value`, rounded to float32, with the sign of `sign`; beyond the greatest, infinity."""
    if isinstance(value, float):
        return math.copysign(value, sign)
    magnitude = float32(abs(value))
    return math.copysign(math.inf if magnitude >= TOO_LARGE else float(magnitude), sign)


def float32_output(acc: int, scale: Fraction, zero_point: int, output: Format) -> int:
    """rint(clip(f32(acc) * scale, ...)) + zero_point, each operation rounded once; the product of two integers."""
    if not acc or not scale:
        return min(max(zero_point, output[0]), output[1])
    x, exponent = shortened(acc, 0)
    mantissa, place = split(scale)
    rounded = nearest(*shortened(x * mantissa, exponent + place))
    return min(max(rounded + zero_point, output[0]), output[1])


ROUNDINGS = ("near-tie", "nearest", "floor")
"""The integer forms of a requantizer (docs/exactness.md)."""


def integer_output(
    acc: int, rounding: str, multiplier: int, shift: int, offset: int, zero_point: int, output: Format
) -> int:
    """The hardware's integer form, as docs/exactness.md writes it."""
    x = acc
    if rounding == "near-tie":
        kept, drop = shortened(acc, 0)
        x = kept << drop
    value = x * multiplier + (offset if rounding == "floor" else 0)
    floor = value >> shift
    up = False
    if rounding != "floor":
        doubled = 2 * (value - (floor << shift)) - (1 << shift)  # (F - 1/2) * 2^(S + 1)
        near = doubled == 0
        if rounding == "near-tie":
            leading = (floor if floor >= 0 else ~floor).bit_length() - 1
            near = Fraction(abs(doubled), 1 << (shift + 1)) <= Fraction(2) ** (leading - _PRECISION)
        up = floor % 2 == 1 if near else doubled >= 0
    return min(max(floor + up + zero_point, output[0]), output[1])


def steps_of(scale: Fraction, zero_point: int, output: Format, lo: int, hi: int) -> list[tuple[int, int]]:
    """(accumulator, output) at `lo` and at each later change of the output of the float32 formula, up to `hi`.

    The tie below an output u is at (u - 1/2) / scale; the first accumulator that gives u is near it. Between two points
    that are on either side by evaluation it is found by halving, so that each step is seen from both sides.
    """

    def at(acc: int) -> int:
        return float32_output(acc, scale, zero_point, output)

    found = [(lo, at(lo))]
    last = at(hi)
    while found[-1][1] < last:
        before, y = found[-1]
        start = _first_above(at, y, before, hi, scale, zero_point)
        found.append((start, at(start)))
    return found


def _first_above(at: Callable[[int], int], y: int, before: int, hi: int, scale: Fraction, zero_point: int) -> int:
    """The least accumulator after `before` whose output is more than `y`; at(before) <= y < at(hi)."""
    tie = (Fraction(2 * (y - zero_point) + 1, 2)) / scale
    guess = tie.numerator // tie.denominator
    low, high = max(before, min(guess - _NEAR, hi)), min(hi, max(guess + _NEAR, before))
    if at(low) > y:
        low = before
    if at(high) <= y:
        high = hi
    while high - low > 1:
        middle = (low + high) // 2
        if at(middle) > y:
            high = middle
        else:
            low = middle
    return high


def steps_digest(steps: list[tuple[int, int]], hi: int) -> str:
    """SHA-256 of the line of text that docs/exactness.md defines."""
    line = " ".join([*(f"{acc}:{y}" for acc, y in steps), str(hi)])
    return hashlib.sha256(line.encode("ascii")).hexdigest()
