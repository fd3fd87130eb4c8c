"""Fused multiply-add against exact rationals, rounded once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from systoliq.golden.network.fma import fma32


def rounded(exact: Fraction) -> float:
    """`exact` as float32, half to even, subnormals included."""
    if exact == 0:
        return 0.0
    magnitude = abs(exact)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if Fraction(2) ** exponent > magnitude:
        exponent -= 1
    step = Fraction(2) ** (max(exponent, -126) - 23)
    value = round(magnitude / step) * step  # Python rounds halves to even
    found = float(value) if value < Fraction(2) ** 128 else float("inf")
    return found if exact > 0 else -found


def expected(a, b, c):
    exact = (Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)) for x, y, z in zip(a, b, c, strict=True))
    return np.array([rounded(each) for each in exact], np.float32)


def near_ties(rng, count):
    """c and a product of half its last place, but for one part in 2^32 to 2^46, which float64 loses in the sum."""
    c = rng.integers(1 << 23, 1 << 24, count) * rng.choice([-1, 1], count)
    share = rng.integers(1, 128, count) * 2.0**-23
    a, b = 1 + share, (1 - share) * rng.choice([-0.5, 0.5], count)
    power = 2.0 ** rng.integers(-40, 40, count)
    return a.astype(np.float32), (b * power).astype(np.float32), (c * power).astype(np.float32)


def test_near_ties():
    a, b, c = near_ties(np.random.default_rng(1), 20000)
    found = fma32(a, b, c)
    np.testing.assert_array_equal(found, expected(a, b, c))
    twice = (a.astype(np.float64) * b + c).astype(np.float32)
    assert np.count_nonzero(twice != found) > 20  # a rounding to float64 between would be seen


@pytest.mark.parametrize("swing", [10, 60, 120])
def test_random_numbers(swing):
    rng = np.random.default_rng(swing)
    a, b, c = (
        (rng.normal(0, 1, 6000) * 2.0 ** rng.integers(-swing, swing // 2, 6000)).astype(np.float32) for _ in range(3)
    )
    np.testing.assert_array_equal(fma32(a, b, c), expected(a, b, c))


def test_cancellation_and_subnormals():
    one = np.float32(1)
    tiny = np.float32(2.0**-149)
    cases = [(one, one, -one), (tiny, one / 2, tiny), (tiny, one / 2, 0), (3 * tiny, one / 2, 0), (-tiny, one / 2, 0),
             (one + 2**-23, one + 2**-23, -one), (2.0**64, 2.0**63, 2.0**103), (2.0**64, 2.0**64, 0)]  # fmt: skip
    a, b, c = (np.array(column, np.float32) for column in zip(*cases, strict=True))
    np.testing.assert_array_equal(fma32(a, b, c), expected(a, b, c))


def test_what_is_not_finite():
    inf, nan = np.float32("inf"), np.float32("nan")
    found = fma32([inf, inf, 0, 1], [1, 1, inf, nan], [0, -inf, 0, 0])
    np.testing.assert_array_equal(found, np.array([inf, nan, nan, nan], np.float32))


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize(
    ("a", "b", "c"),
    [
        (1 + 2.0**-12, 1 + 2.0**-12, 2.0**-80),  # a tie of float32, and beside it what float64 drops
        (1 + 2.0**-12, 1 + 2.0**-12, -(2.0**-80)),
        (2.0**-24 * (1 + 2.0**-20), 1 - 2.0**-20, 1.0),
        (2.0**-24 * (1 + 2.0**-20), 1 - 2.0**-20, 1 + 2.0**-23),
        (-(2.0**-24) * (1 + 2.0**-20), 1 - 2.0**-20, 1 + 2.0**-23),
    ],
)
def test_what_float64_drops_decides_ties(a, b, c, sign):
    operands = np.float32([sign * a]), np.float32([b]), np.float32([sign * c])
    np.testing.assert_array_equal(fma32(*operands), expected(*operands))
