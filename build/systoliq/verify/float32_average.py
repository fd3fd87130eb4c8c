"""Averages of windows: which sums float32 additions in any order may round to another integer than the true average.

An independent implementation, written from docs/exactness.md and IEEE 754 alone, without numpy and without
`systoliq.golden`.
"""

from __future__ import annotations

from fractions import Fraction

from .float32 import Format, float32

__all__ = ["uncertain_average"]

_LAST = Fraction(1, 1 << 24)  # half a last place of float32, relative to the number
_BYTE = 256


def uncertain_average(
    pixels: int, x: Format, x_scale: float, x_zero_point: int, y: Format, y_scale: float, y_zero_point: int
) -> int | None:
    """Return a sum of `pixels` integers less their zero point for which the certified integer form and float32
    additions may differ; None if there is none.
    """
    given, made = Fraction(x_scale), Fraction(y_scale)
    if not all(Fraction(1, 1 << 80) <= scale <= 1 << 80 for scale in (given, made)):
        return 0
    least, most = (pixels * (end - x_zero_point) for end in x)
    largest = max(-least, most)
    step = given / made / pixels
    if _odd_part(given) * largest <= 1 << 24:  # all multiples are float32 numbers
        return _unlike(pixels, least, most, given, made, y, y_zero_point)
    additions = Fraction(pixels * (pixels + 1), 2) - 1
    error = step * (largest // pixels) * (pixels + additions * (1 + 2 * pixels * _LAST)) + 4 * _BYTE
    error *= _LAST * (1 + Fraction(1, 1 << 16))
    for result in range(y[0], y[1]):
        tie = (result - y_zero_point + Fraction(1, 2)) / step
        floor = tie.numerator // tie.denominator
        for total in (floor, floor + 1):
            if least <= total <= most and abs(total - tie) * step <= error:
                return total
    return None


def _odd_part(value: Fraction) -> int:
    numerator = value.numerator
    return numerator // (numerator & -numerator)


def _unlike(
    pixels: int, least: int, most: int, given: Fraction, made: Fraction, y: Format, y_zero_point: int
) -> int | None:
    """The first sum whose average in float32, with exact additions here, differs from the integer form."""
    scale = float32(given / float32(made * pixels))
    for total in range(least, most + 1):
        real = float32(float32(float32(total * given / pixels) / made) + y_zero_point)
        integer = round(float32(total * scale)) + y_zero_point
        if _saturated(round(real), y) != _saturated(integer, y):
            return total
    return None


def _saturated(value: int, y: Format) -> int:
    return min(max(value, y[0]), y[1])
