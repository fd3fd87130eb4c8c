"""Slopes between two bounds: which of them are none at all, and the least that a requantizer can hold."""

from __future__ import annotations

from fractions import Fraction

import pytest

from systoliq.golden.slopes import SHIFT_LIMIT, Bound, Slopes

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


def test_shifts_end_where_requantizers_do():
    last, beyond = (Bound(Fraction(1, 1 << shift), included=True) for shift in (SHIFT_LIMIT, SHIFT_LIMIT + 1))
    assert Slopes(last, last).dyadic() == (1, SHIFT_LIMIT)
    assert Slopes(beyond, beyond).dyadic() is None
