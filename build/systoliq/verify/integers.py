"""Integers in a float8 layer: their values, and rounding to them, in exact rational arithmetic.

An independent implementation, written from docs/float8.md alone, without numpy and without `systoliq.golden`. It has
the same methods as `Float8`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

__all__ = ["Integers"]


@dataclass(frozen=True)
class Integers:
    """Numbers of `bits` bits with a zero point."""

    bits: int
    signed: bool
    zero_point: int

    unit = 0
    infinity = None

    @property
    def least(self) -> int:
        """The smallest number, which is the result for NaN."""
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def most(self) -> int:
        """The greatest number."""
        return self.least + (1 << self.bits) - 1

    @property
    def ends(self) -> tuple[int, int]:
        """The values of the smallest and the largest number."""
        return self.least - self.zero_point, self.most - self.zero_point

    @property
    def bias(self) -> int:
        """Bias of the hardware's exponent fields: field 1 is for numbers beyond all integers."""
        return 1 - self.bits

    @property
    def nan(self) -> int:
        """The result for NaN."""
        return self.least

    @property
    def infinities(self) -> tuple[int, int]:
        """The results for the infinities, the positive one first."""
        return self.most, self.least

    def nearest(self, number: Fraction) -> int:
        """The nearest integer, half to even, plus the zero point, saturated."""
        return min(max(round(number) + self.zero_point, self.least), self.most)

    def steps(self, scale: Fraction, lo: int, hi: int) -> list[tuple[int, int]]:
        """(sum, result) at `lo` and at each later change of the result for sum * scale, up to `hi`."""
        found = [(lo, self.nearest(lo * scale))]
        for result in range(found[0][1] + 1, self.nearest(hi * scale) + 1):
            rounded = result - self.zero_point
            tie = (rounded - Fraction(1, 2)) / scale
            start = floor(tie) + 1 if rounded % 2 else ceil(tie)  # a tie rounds to the even integer
            if start == found[-1][0]:
                found.pop()
            found.append((start, result))
        return found
