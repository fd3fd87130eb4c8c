"""QLinearMatMul with a float8 operand or result: exact sums, one exact product with the scale, one rounding.

    s = f32(f32(a_scale * b_scale) / y_scale)
    y = round(sum(a * b) * s)        the sum and its product with s are exact; half to even, saturated

The sum is exact, so the order of summation does not matter. docs/float8.md describes what the ONNX text leaves open,
and how it is defined here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .accumulate import exact_matmul
from .float8 import Float8Format
from .formats import IntFormat, signed_bits
from .operand import Format
from .wide import Wide

_BAND_BITS = 16  # shifts in one band: 4 bits of significand and 15 of shift make products of 38 bits


@dataclass(frozen=True, eq=False)
class Numbers:
    """A matrix operand [..., rows, columns] in integers: sum(band * 2^(16 * i)) * 2^unit, i the band's index.

    Bands are int64, below 2^19, so that their products are exact in one pass of `exact_matmul`. `nan` (bool) and
    `infinity` (+1, -1, 0) flag the elements that are not numbers, whose bands are 0; both are None if there are no such
    elements.
    """

    bands: tuple[npt.NDArray[np.int64], ...]
    unit: int
    nan: npt.NDArray[np.bool_] | None = None
    infinity: npt.NDArray[np.int8] | None = None

    @classmethod
    def of(cls, array: npt.NDArray[Any], form: Format, zero_point: int | npt.NDArray[Any] = 0) -> Numbers:
        """Codes of a float8 `form`, or integers less their zero point, one for all or [..., 1, columns]."""
        if isinstance(form, Float8Format):
            return cls.of_float8(array, form)
        return cls((array.astype(np.int64) - zero_point,), form.unit)

    @classmethod
    def of_float8(cls, codes: npt.NDArray[Any], form: Float8Format) -> Numbers:
        """The codes of `form`."""
        decoded = form.decode(codes)
        bands = []
        for first in range(0, form.max_shift + 1, _BAND_BITS):
            here = (decoded.shift >= first) & (decoded.shift < first + _BAND_BITS)
            bands.append(np.where(here, decoded.significand << np.maximum(decoded.shift - first, 0), 0))
        nan = decoded.nan if decoded.nan.any() else None
        infinity = decoded.infinity if decoded.infinity.any() else None
        return cls(tuple(bands), form.unit, nan, infinity)

    @property
    def sign(self) -> npt.NDArray[np.int8]:
        """The sign of each element, infinities included; 0 for zeros and NaN."""
        sign = np.sign(sum(self.bands)) if self.infinity is None else np.sign(sum(self.bands)) + self.infinity
        return np.asarray(sign, dtype=np.int8)


@dataclass(frozen=True, eq=False)
class Sums:
    """Exact sums: `numbers`, replaced by NaN or an infinity (+1, -1, 0) where flagged."""

    numbers: Wide
    nan: npt.NDArray[np.bool_]
    infinity: npt.NDArray[np.int8]

    @property
    def flags(self) -> npt.NDArray[np.uint8]:
        """The hardware's flags of each sum: 0 for a number, 1 for +infinity, 2 for -infinity, 3 for NaN."""
        return np.where(self.nan, 3, np.where(self.infinity > 0, 1, np.where(self.infinity < 0, 2, 0))).astype(np.uint8)


def exact_sums(a: Numbers, b: Numbers) -> Sums:
    """The sums of `numpy.matmul` [..., M, N] for a [..., M, K] and b [..., K, N]. A sum over K = 0 is 0.

    A product is NaN where an operand is, and for zero times infinity; a sum is NaN where a product is, or where
    products are infinite with both signs. Limit: K below 2^24.
    """
    terms = [
        (exact_matmul(left, right), _BAND_BITS * (i + j))
        for i, left in enumerate(a.bands)
        for j, right in enumerate(b.bands)
    ]
    numbers = Wide.of_sums(terms, a.unit + b.unit)
    nan = np.zeros(numbers.negative.shape, np.bool_)
    if a.nan is not None:
        nan |= a.nan.any(axis=-1, keepdims=True)
    if b.nan is not None:
        nan |= b.nan.any(axis=-2, keepdims=True)
    plus, minus = (np.zeros_like(nan) for _ in range(2))
    if a.infinity is not None or b.infinity is not None:
        left, right = a.sign, b.sign
        for x, y in ((a.infinity, right), (left, b.infinity)):
            if x is not None and y is not None:
                plus |= _any_product(x > 0, y > 0) | _any_product(x < 0, y < 0)
                minus |= _any_product(x > 0, y < 0) | _any_product(x < 0, y > 0)
        nan |= plus & minus
        if a.infinity is not None:
            nan |= _any_product(a.infinity != 0, right == 0)
        if b.infinity is not None:
            nan |= _any_product(left == 0, b.infinity != 0)
    return Sums(numbers, nan, plus.astype(np.int8) - minus.astype(np.int8))


def integer_sums(acc: npt.NDArray[Any]) -> Sums:
    """Integer accumulators as sums."""
    numbers = Wide.of_sums([(acc.astype(np.int64), 0)], 0)
    return Sums(numbers, np.zeros(acc.shape, np.bool_), np.zeros(acc.shape, np.int8))


def scaled(sums: Sums, scale: npt.NDArray[np.float32]) -> Sums:
    """Return the exact products of `sums` and the float32 `scale`, broadcast, by the rules of IEEE 754.

    Only the sign of zero differs: an exact zero is positive.
    """
    finite = np.isfinite(scale)
    sign = np.sign(np.where(np.isnan(scale), 0, scale)).astype(np.int8)
    numbers = sums.numbers.times(np.where(finite, scale, np.float32(0)))
    of_number = np.where(sums.numbers.zero, 0, np.where(sums.numbers.negative, -1, 1)).astype(np.int8)
    infinite = (sums.infinity != 0) | np.isinf(scale)
    infinity = np.where(infinite, sign * np.where(sums.infinity != 0, sums.infinity, of_number), 0).astype(np.int8)
    return Sums(numbers, sums.nan | np.isnan(scale) | (infinite & (infinity == 0)), infinity)


def round_to_integers(sums: Sums, zero_point: int, output: IntFormat) -> npt.NDArray[Any]:
    """Integers nearest to `sums`, half to even, plus the zero point, saturated; NaN gives the least, as `rescale`."""
    large = sums.numbers.leading >= output.bits  # beyond every output, even with the zero point
    magnitude = np.where(large | (sums.infinity != 0), 1 << 2 * output.bits, sums.numbers.rounded(0))
    negative = np.where(sums.infinity != 0, sums.infinity < 0, sums.numbers.negative)
    rounded = np.where(negative, -magnitude, magnitude) + zero_point
    return output.saturate(np.where(sums.nan, output.min, rounded))


def rounded(sums: Sums, output: Format, zero_point: int) -> npt.NDArray[Any]:
    """`sums` rounded once to `output`, of its dtype; the zero point is an integer's."""
    if isinstance(output, IntFormat):
        return round_to_integers(sums, zero_point, output)
    return output.round(sums.numbers, sums.nan, sums.infinity).view(output.dtype)


def refuse_underflow(
    scale: npt.NDArray[np.float32],
    a_scale: npt.NDArray[np.float32],
    b_scale: npt.NDArray[np.float32],
    y_scale: np.float32,
) -> None:
    """Raise ValueError if the combined `scale` is 0 though no scale is: every output there would be a wrong zero."""
    lost = (scale == 0) & (a_scale != 0) & (b_scale != 0) & np.isfinite(y_scale)
    if lost.any():
        index = tuple(int(i) for i in np.argwhere(lost)[0])
        a, b = (np.broadcast_to(value, lost.shape)[index] for value in (a_scale, b_scale))
        raise ValueError(
            f"a_scale * b_scale / y_scale must not underflow to 0 in float32, "
            f"not {float(a)!r} * {float(b)!r} / {float(y_scale)!r}"
        )


def sum_bits(a: Format, b: Format, k: int) -> int:
    """Bits, the sign included, of an accumulator that holds every sum of `k` products of `a` and `b` exactly.

    Its unit is the product of the units of `a` and `b`. An IntFormat counts with zero point 0.
    """
    products = [x * y for x in a.ends for y in b.ends]
    return signed_bits(k * max(products), k * min(products))


def flag_bits(a: Format, b: Format) -> int:
    """Bits of `Sums.flags` that sums of products of `a` and `b` need: 2, 1 where only NaN can be, 0 of integers."""
    if a.nan_code is b.nan_code is None:
        return 0
    return 1 if a.infinity_code is b.infinity_code is None else 2


def _any_product(a: npt.NDArray[np.bool_], b: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """True if a[m, k] and b[k, n] are both true for any k."""
    found: npt.NDArray[np.bool_] = np.matmul(a.astype(np.float32), b.astype(np.float32)) > 0
    return found
