"""QLinearMatMul with float8 by its definition: Python integers, and the values that ml_dtypes gives to the codes.

Numbers are Python integers in units of 2^-320, which every product here is a whole multiple of, or floats that are NaN
or infinite. Nothing is taken from systoliq.
"""

import bisect
import itertools
import math
from fractions import Fraction

import ml_dtypes
import numpy as np

FLOAT8 = ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")
INTEGERS = ("int8", "uint8")
NAN = {"float8_e4m3fn": 0x7F, "float8_e4m3fnuz": 0x80, "float8_e5m2": 0x7F, "float8_e5m2fnuz": 0x80}
UNIT = 320  # bits behind the point
CODES = np.arange(256, dtype=np.uint8)


def dtype(name):
    """The dtype of ml_dtypes or numpy that is called `name`."""
    return np.dtype(getattr(ml_dtypes, name, name))


def values(name):
    """What the 256 codes of `name` stand for, as float64."""
    return CODES.view(dtype(name)).astype(np.float64)


def finite(name):
    """The finite values from 0 up, by code, as rationals."""
    up = values(name)[:128]
    return [Fraction(float(value)) for value in up if np.isfinite(value)]


def fixed(value):
    """`value`, a rational or a finite float, in units of 2^-320; it must be a whole number of them."""
    scaled = Fraction(value) * 2**UNIT
    assert scaled.denominator == 1
    return scaled.numerator


class Output:
    """Rounding to the type `name`, with a zero point where that is an integer type."""

    def __init__(self, name, zero_point=0):
        self.name, self.zero_point = name, zero_point
        if name in FLOAT8:
            steps = finite(name)
            self.ties = [fixed((low + high) / 2) for low, high in itertools.pairwise(steps)]

    def round(self, number):
        """The code, or the integer, for `number`: half to even, saturated, exact zero positive."""
        if self.name in INTEGERS:
            return self._integer(number)
        if number != number:
            return NAN[self.name]
        magnitude = abs(number)
        code = len(self.ties) if magnitude == math.inf else bisect.bisect_left(self.ties, magnitude)
        if code < len(self.ties) and magnitude == self.ties[code]:
            code += code & 1
        return code | 0x80 if number < 0 and (code or "fnuz" not in self.name) else code

    def _integer(self, number):
        least, most = (-128, 127) if self.name == "int8" else (0, 255)
        if number != number:
            return least
        if abs(number) == math.inf:
            return most if number > 0 else least
        return min(max(round(Fraction(number, 2**UNIT)) + self.zero_point, least), most)


def times(number, units, scale):
    """`number`, an integer in units of 2^-units or a float that is NaN or infinite, times the float `scale`."""
    if isinstance(number, int) and math.isfinite(scale):
        numerator, denominator = scale.as_integer_ratio()
        product, rest = divmod(number * numerator << UNIT, denominator << units)
        assert rest == 0
        return product
    sign = (number > 0) - (number < 0)
    product = float(number if isinstance(number, float) else sign) * scale  # the sign is enough where scale is infinite
    return 0 if product == 0 else product


def operand(array, zero_point=0):
    """The elements of `array` as integers in units of 2^-20 (objects), and as floats that show zero, sign, inf, NaN."""
    if array.dtype.name in INTEGERS:
        numbers = (array.astype(np.int64) - zero_point).astype(object) * 2**20
        return numbers, np.sign(array.astype(np.float64) - zero_point)
    table = values(array.dtype.name)
    integers = [int(Fraction(float(value)) * 2**20) if np.isfinite(value) else 0 for value in table]
    signs = np.where(np.isfinite(table), np.sign(table), table)
    return np.array(integers, object)[array.view(np.uint8)], signs[array.view(np.uint8)]


def sums(a, a_zero_point, b, b_zero_point):
    """The exact sums [M, N] of a [M, K] and b [K, N], in units of 2^-40, or NaN or infinite floats: objects."""
    (left, left_signs), (right, right_signs) = operand(a, a_zero_point), operand(b, b_zero_point)
    exact = np.matmul(left, right)
    with np.errstate(invalid="ignore"):
        flags = np.matmul(left_signs, right_signs)  # NaN, inf, -inf arise exactly where they do in the sum
    special = ~np.isfinite(flags)
    exact[special] = flags[special].tolist()
    return exact
