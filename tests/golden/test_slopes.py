"""Slopes between two bounds: which of them are none at all, and the least that a requantizer can hold."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from systoliq.golden import INT8, UINT8, IntFormat
from systoliq.golden.requantization import Requantization, Rounding
from systoliq.golden.slopes import SHIFT_LIMIT, Bound, Slopes, slopes_through_zero
from systoliq.golden.thresholds import float32_steps

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("second", [True, False])
def test_one_slope_is_there_where_both_bounds_include_it(first, second):
    one = Slopes(Bound(HALF, included=first), Bound(HALF, included=second))
    assert one.empty is not (first and second)
    assert one.dyadic() == ((1, 1) if first and second else None)


@pytest.mark.parametrize("included", [True, False])
def test_bounds_in_their_order_leave_some(included):
    between = Slopes(Bound(THIRD, included=included), Bound(HALF, included=included))
    assert not between.empty
    assert Slopes(Bound(HALF, included=included), Bound(THIRD, included=included)).empty
    assert not Slopes(Bound(HALF, included=included), None).empty
    multiplier, shift = between.dyadic()
    assert THIRD <= Fraction(multiplier, 1 << shift) <= HALF
    assert (multiplier, shift) == ((1, 1) if included else (3, 3))


def test_a_slope_that_is_left_out_is_passed():
    """The next multiplier of the same shift, where one of a greater shift would have more bits."""
    assert Slopes(Bound(HALF, included=False), None).dyadic() == (1, 0)
    assert Slopes(Bound(Fraction(1), included=False), Bound(Fraction(2), included=True)).dyadic() == (2, 0)
    assert Slopes(Bound(Fraction(1), included=False), Bound(Fraction(2), included=False)).dyadic() == (3, 1)


def test_multipliers_end_where_requantizers_do():
    last, beyond = (Bound(Fraction(multiplier), included=True) for multiplier in ((1 << 30) - 1, 1 << 30))
    assert Slopes(last, last).dyadic() == ((1 << 30) - 1, 0)
    assert Slopes(beyond, beyond).dyadic() is None


def test_shifts_end_where_requantizers_do():
    last, beyond = (Bound(Fraction(1, 1 << shift), included=True) for shift in (SHIFT_LIMIT, SHIFT_LIMIT + 1))
    assert Slopes(last, last).dyadic() == (1, SHIFT_LIMIT)
    assert Slopes(beyond, beyond).dyadic() is None


SHIFT = 30
RANGES = [(-3, 3), (-1, 1), (0, 2), (-9, 0), (1, 40), (-2000, 2000)]


@pytest.mark.parametrize("rounding", [Rounding.NEAREST, Rounding.NEAR_TIE], ids=str)
@pytest.mark.parametrize("ends", RANGES, ids=str)
def test_bounds_are_where_a_result_changes(ends, rounding):
    """Just within either bound all sums have the float32 formula's results; just beyond it, and on a bound that is not
    included, one of them has not.
    """
    rng = np.random.default_rng(ends[1])
    acc = np.arange(ends[0], ends[1] + 1)
    checked = 0
    for _ in range(40):
        output = [INT8, UINT8, IntFormat(3, signed=True), IntFormat(2, signed=False)][rng.integers(4)]
        zero_point = int(rng.integers(output.min, output.max + 1))
        scale = np.float32(rng.choice([rng.uniform(0.01, 0.99), rng.integers(1, 64) / 64]))
        lo, hi = (np.array([end]) for end in ends)
        steps = float32_steps(np.array([scale]), zero_point, output, lo, hi)
        (slopes,) = slopes_through_zero(steps, zero_point, rounding)
        wanted = Requantization.from_scales(scale, zero_point, output).apply(acc)
        upper = Fraction(1) if slopes.above is None else slopes.above.slope
        if upper - slopes.below.slope < Fraction(8, 1 << SHIFT):
            continue
        for bound, inward in ((slopes.below, 1), (slopes.above, -1)):
            if bound is None or not 0 < bound.slope < 1:
                continue
            checked += 1
            scaled = bound.slope * (1 << SHIFT)
            whole = scaled.denominator == 1
            inside = int(scaled // 1) + (inward > 0) if not whole else int(scaled) + inward * (not bound.included)
            outside = inside - inward
            for multiplier, right in ((inside, True), (outside, False)):
                made = Requantization(
                    multiplier=(multiplier,), shift=(SHIFT,), offset=(0,), zero_point=zero_point, output=output,
                    rounding=rounding,
                )  # fmt: skip
                assert (made.apply(acc) == wanted).all() == right, (scale, zero_point, output, bound, multiplier)
    assert checked > 20
