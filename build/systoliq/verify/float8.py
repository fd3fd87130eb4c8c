"""The float8 formats and their rounding, in exact rational arithmetic.

An independent implementation, written from docs/float8.md alone, without numpy and without `systoliq.golden`.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

__all__ = ["FORMATS", "Float8"]

_SIGN = 0x80


@dataclass(frozen=True)
class Float8:
    """A format: mantissa bits, bias, code of the greatest finite value, the NaN of results, infinity or None."""

    mantissa_bits: int
    bias: int
    greatest: int
    nan: int
    infinity: int | None

    bits = 8

    @property
    def unit(self) -> int:
        """Exponent of the smallest positive value, 2^unit."""
        return 1 - self.bias - self.mantissa_bits

    @property
    def ends(self) -> tuple[int, int]:
        """The smallest and the largest number, in units of 2^unit."""
        most = self.units(self.greatest) or 0
        return -most, most

    @property
    def infinities(self) -> tuple[int, int]:
        """The results for the infinities, the positive one first."""
        return self.greatest, self.greatest | _SIGN

    def units(self, code: int) -> int | None:
        """The value of a code in units of 2^unit; None for NaN and infinities."""
        magnitude = code % _SIGN
        if magnitude > self.greatest or (code == self.nan):
            return None
        field, mantissa = divmod(magnitude, 1 << self.mantissa_bits)
        size = mantissa if field == 0 else ((1 << self.mantissa_bits) + mantissa) << (field - 1)
        return -size if code >= _SIGN else size

    @cached_property
    def ties(self) -> list[int]:
        """Between magnitude c and c + 1, in halves of units."""
        sizes = [self.units(code) or 0 for code in range(self.greatest + 1)]
        return [low + high for low, high in itertools.pairwise(sizes)]

    def nearest(self, number: Fraction) -> int:
        """The code nearest to a number: half to even, saturated; 0 is positive, a negative that becomes 0 is -0."""
        halves = abs(number) * 2 / Fraction(2) ** self.unit
        code = bisect_left(self.ties, halves)
        if code < len(self.ties) and self.ties[code] == halves:
            code += code % 2
        return code | _SIGN if number < 0 and (code or self.nan != _SIGN) else code

    def steps(self, scale: Fraction, lo: int, hi: int) -> list[tuple[int, int]]:
        """(sum, code) at `lo` and at each later change of the code of sum * scale, up to `hi`."""
        found = [(lo, self.nearest(lo * scale))]
        half = Fraction(2) ** self.unit / 2 / scale
        starts = {0, 1}
        for code, tie in enumerate(self.ties):
            whole, rest = divmod((tie * half).numerator, (tie * half).denominator)
            first = whole + (rest != 0 or code % 2 == 0)  # the least sum whose code is above
            starts |= {first, 1 - first}
        for start in sorted(starts):
            if lo < start <= hi and (code := self.nearest(start * scale)) != found[-1][1]:
                found.append((start, code))
        return found


FORMATS = {
    "float8_e4m3fn": Float8(3, 7, 0x7E, 0x7F, None),
    "float8_e4m3fnuz": Float8(3, 8, 0x7F, 0x80, None),
    "float8_e5m2": Float8(2, 15, 0x7B, 0x7F, 0x7C),
    "float8_e5m2fnuz": Float8(2, 16, 0x7F, 0x80, None),
}
"""Formats by name."""
