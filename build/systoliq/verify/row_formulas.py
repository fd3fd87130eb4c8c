"""Softmax and layer normalization of a row of integers, in exact arithmetic.

An independent implementation, written from docs/exactness.md and IEEE 754 alone, without numpy and without
`systoliq.golden`.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from .float32 import TOO_LARGE, Format, float32
from .package import RefusedError

__all__ = ["FRACTION", "Normalization", "exponentials", "float32_total", "levels_of", "shares"]

FRACTION = 24
"""Bits of a normalized element behind the point."""
_GREATEST = TOO_LARGE - (1 << 104)  # of float32
_RESERVE = 5  # of the logarithm of the greatest float32
_DIGITS = 60
_DISTANCES = 256  # of an element from the greatest of its row


def levels_of(y_scale: float) -> int:
    """The result of a probability of 1, less the zero point."""
    return math.floor(float32(1 / Fraction(y_scale)))


def exponentials(x_scale: float, length: int) -> list[Fraction]:
    """The float32 exponentials of a softmax of `length` elements, by distance from the greatest of the row."""
    with decimal.localcontext(decimal.Context(prec=_DIGITS)):
        most = float32(Fraction(_GREATEST) / length)
        logarithm = float32(
            Fraction(float(decimal.Decimal(most.numerator).ln() - decimal.Decimal(most.denominator).ln()))
        )
        peak = max(0.0, float(logarithm) - _RESERVE) / x_scale
        real = [float(decimal.Decimal((peak - distance) * x_scale).exp()) for distance in range(_DISTANCES)]
    found = [float32(Fraction(each)) for each in real]
    if found[0] >= TOO_LARGE:
        raise RefusedError("the greatest exponential is infinite")
    return found


def float32_total(terms: Sequence[Fraction]) -> Fraction:
    """The sum in float32, rounded after each addition."""
    total = terms[0]
    for term in terms[1:]:
        total = float32(total + term)
    return total


def shares(row: Sequence[int], table: Sequence[Fraction], levels: int, zero_point: int, output: Format) -> list[int]:
    """The softmax of a row: rint(e * levels / total) + zero point, saturated; the quotient is exact."""
    greatest = max(row)
    terms = [table[greatest - each] for each in row]
    total = float32_total(terms)
    return [_saturated(round(term * levels / total) + zero_point, output) for term in terms]


def _saturated(value: int, output: Format) -> int:
    return min(max(value, output[0]), output[1])


@dataclass(frozen=True, kw_only=True)
class Normalization:
    """The integer constants of a layer normalization: `half` is j, `offset` E, `dividend` c, `gain_bits` q, `gains` G
    and `shifts` B of docs/exactness.md.
    """

    length: int
    half: int
    offset: int
    dividend: int
    drop: int
    gain_bits: int
    gains: tuple[int, ...]
    shifts: tuple[int, ...]

    @staticmethod
    def of(
        x: Format, x_scale: float, y_scale: float, gain: Sequence[float], shift: Sequence[float], epsilon: float
    ) -> Normalization:
        """Derive the constants from the scales, the gain and shift of each channel, and epsilon."""
        length, scale = len(gain), Fraction(y_scale)
        offset = Fraction(epsilon) * length**2 / Fraction(x_scale) ** 2
        half = 0
        while (length - 1 + offset) * 4**half < 1 << (2 * FRACTION + 2):
            half += 1
        added = max(1, round(offset * 4**half))
        variance = length**2 * (x[1] - x[0]) ** 2 // 4
        dividend = math.isqrt((variance << 2 * half) + added).bit_length() + FRACTION + 1
        greatest = max(abs(Fraction(each)) / scale for each in gain)
        bits = next(q for q in range(FRACTION, -1, -1) if round(greatest * 2**q) < 1 << FRACTION)
        return Normalization(
            length=length,
            half=half,
            offset=added,
            dividend=max(dividend, half + FRACTION),
            drop=max(0, dividend - half - FRACTION),
            gain_bits=bits,
            gains=tuple(round(Fraction(each) * 2**bits / scale) for each in gain),
            shifts=tuple(round(Fraction(each) * 2 ** (bits + FRACTION) / scale) for each in shift),
        )

    @property
    def least_variance(self) -> int:
        """The whole part of what epsilon adds to the variance: E / 4^j, rounded down."""
        return self.offset >> 2 * self.half

    def inverse(self, variance: int) -> int:
        """floor(2^c / R) of a variance V that is not 0."""
        return (1 << self.dividend) // math.isqrt((variance << 2 * self.half) + self.offset)

    def row(self, row: Sequence[int], zero_point: int, output: Format) -> list[int]:
        """The normalized elements of a row."""
        total = sum(row)
        variance = self.length * sum(each * each for each in row) - total * total
        inverse = self.inverse(variance) if variance else 0
        found = []
        for each, gain, shift in zip(row, self.gains, self.shifts, strict=True):
            apart = self.length * each - total
            size = abs(apart) * inverse >> self.drop
            found.append(self.rounded((size if apart >= 0 else -size) * gain + shift, zero_point, output))
        return found

    def rounded(self, total: int, zero_point: int, output: Format) -> int:
        """The result for a sum in units of 2^-(24 + q)."""
        return _saturated(round(Fraction(total, 1 << FRACTION + self.gain_bits)) + zero_point, output)
