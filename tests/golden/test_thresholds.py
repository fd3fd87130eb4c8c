"""Steps of a rescale against every accumulator of small ranges, and against closed forms in exact rationals."""

import hashlib
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from systoliq.golden.formats import INT8, INT32, UINT8, IntFormat
from systoliq.golden.requantization import Requantization, Rounding
from systoliq.golden.thresholds import (
    count_differences,
    differences,
    first_difference,
    float32_steps,
    int32_range,
    integer_steps,
    steps_digest,
)

repeatable = settings(derandomize=True, deadline=None, max_examples=200)


def float32_formula(acc, scale, zero_point, output):
    product = np.asarray(acc).astype(np.float32) * np.asarray(scale, dtype=np.float32)
    return np.rint(np.clip(product, output.min - zero_point, output.max - zero_point)).astype(np.int64) + zero_point


def rational_thresholds(scale, zero_point, output):
    """Least accumulator of each level in closed form: the product rounds to 24 bits, then half to even."""
    for level in range(output.min + 1, output.max + 1):
        target = level - zero_point
        tie = target - Fraction(1, 2)
        band = Fraction(2) ** (math.floor(abs(tie)).bit_length() - 25)
        least = (tie - band if target % 2 == 0 else tie + band) / Fraction(float(scale))
        yield math.ceil(least) if target % 2 == 0 else math.floor(least) + 1


@pytest.mark.parametrize(("output", "zero_point"), [(INT8, -9), (UINT8, 128), (IntFormat(5, signed=False), 3)], ids=str)
def test_float32_steps_are_those_of_exact_rationals(output, zero_point):
    lo, hi = -(2**24), 2**24  # where float32 holds every accumulator
    scale = np.exp2(np.random.default_rng(1).uniform(-24, 2, 300)).astype(np.float32)
    steps = float32_steps(scale, zero_point, output, lo, hi)
    expected = np.array([list(rational_thresholds(s, zero_point, output)) for s in scale], dtype=object).T
    np.testing.assert_array_equal(steps.start, np.clip(expected, lo, hi + 1))
    near_tie = integer_steps(Requantization.from_scales(scale, zero_point, output), lo, hi)
    np.testing.assert_array_equal(near_tie.start, steps.start)


@pytest.mark.sampled(99)
@pytest.mark.parametrize("part", range(5))
@pytest.mark.parametrize(("k", "output"), [(64, INT8), (2048, INT8), (33025, UINT8)], ids=str)
def test_steps_of_near_tie_are_those_of_float32_for_10000_scales(k, output, part):
    """2000 in each part."""
    rng = np.random.default_rng([k, part])
    scale = np.exp2(rng.uniform(-40, 4, 2000)).astype(np.float32)
    zero_point = int(rng.integers(output.min, output.max + 1))
    hi = min(255 * 255 * k, INT32.max)
    assert count_differences(Requantization.from_scales(scale, zero_point, output), scale, -hi, hi).sum() == 0


def test_steps_are_where_outputs_change():
    rng = np.random.default_rng(2)
    scale = np.exp2(rng.uniform(-6, 3, 40)).astype(np.float32)
    lo, hi = rng.integers(-700, 10, 40), rng.integers(10, 700, 40)
    steps = float32_steps(scale, 7, INT8, lo, hi)
    for n in range(40):
        acc = np.arange(lo[n], hi[n] + 1)
        y = float32_formula(acc, scale[n], 7, INT8)
        changes = [0, *(np.flatnonzero(np.diff(y)) + 1)]
        assert steps.column(n) == [(int(acc[i]), int(y[i])) for i in changes]
        assert steps.count[n] == len(changes) - 1


def test_a_single_accumulator_and_constant_outputs():
    steps = float32_steps(
        np.array([0, 1, 1e-20, 5], np.float32), -2, INT8, [3, 3, INT32.min, 2**30], [3, 3, INT32.max, 2**31 - 1]
    )
    assert steps.count == (0, 0, 0, 0)
    assert [steps.column(n) for n in range(4)] == [[(3, -2)], [(3, 1)], [(INT32.min, -2)], [(2**30, 127)]]


@pytest.mark.parametrize("rounding", Rounding)
@pytest.mark.parametrize("bits", [6, 12, 24])
def test_differences_are_counted_exactly(rounding, bits):
    lo, hi = -5000, 7000
    rng = np.random.default_rng(bits)
    scale = np.append(np.exp2(rng.uniform(-10, 1, 60)), [0.01, 0.5, 0.75, 0.3]).astype(np.float32)
    form = Requantization.from_scales(scale, 3, UINT8, rounding=rounding, multiplier_bits=bits)
    acc = np.repeat(np.arange(lo, hi + 1)[:, None], scale.size, axis=1)
    wrong = form.apply(acc) != float32_formula(acc, scale, 3, UINT8)
    counted = count_differences(form, scale, lo, hi)
    np.testing.assert_array_equal(counted, wrong.sum(axis=0))
    assert (counted.sum() > 0) == (bits < 24 or rounding is not Rounding.NEAR_TIE)
    first = first_difference(float32_steps(scale, 3, UINT8, lo, hi), integer_steps(form, lo, hi))
    assert first == [lo + int(np.argmax(column)) if column.any() else None for column in wrong.T]


@repeatable
@given(
    scale=st.floats(min_value=0, max_value=2.0**20, width=32),
    zero_point=st.integers(-128, 127),
    acc=st.lists(st.integers(INT32.min, INT32.max), min_size=2, max_size=50),
)
def test_float32_formula_is_monotone_and_given_by_its_steps(scale, zero_point, acc):
    y = float32_formula(np.sort(acc), np.float32(scale), zero_point, INT8)
    assert np.all(np.diff(y) >= 0)
    steps = float32_steps(np.float32(scale), zero_point, INT8, INT32.min, INT32.max)
    np.testing.assert_array_equal(INT8.min + np.searchsorted(steps.start[:, 0], np.sort(acc), side="right"), y)


def test_digest_is_of_the_canonical_text():
    scale = np.array([0.5, 0.3], np.float32)
    acc = np.arange(-4, 6)
    texts = []
    for value in scale:
        y = float32_formula(acc, value, 1, INT8)
        pairs = [f"{a}:{b}" for a, b, before in zip(acc, y, [None, *y], strict=False) if b != before]
        texts.append(" ".join([*pairs, "5"]))
    assert texts[0] == "-4:-1 -2:0 -1:1 2:2 3:3 5"
    expected = tuple(hashlib.sha256(text.encode()).hexdigest() for text in texts)
    assert steps_digest(float32_steps(scale, 1, INT8, -4, 5)) == expected
    assert steps_digest(integer_steps(Requantization.from_scales(scale, 1, INT8), -4, 5)) == expected


def test_int32_range_is_everything_where_a_sum_could_wrap():
    lo, hi = int32_range([-10, -(2**31), 0, -(2**31) - 1], [10, 2**31 - 1, 2**31, 0])
    assert lo.tolist() == [-10, INT32.min, INT32.min, INT32.min]
    assert hi.tolist() == [10, INT32.max, INT32.max, INT32.max]


@pytest.mark.parametrize(
    ("kind", "message", "changes"),
    [
        (ValueError, "lo must be hi or less in every column", {"lo": 6}),
        (ValueError, "hi must be in int32, not 2147483648", {"hi": 2**31}),
        (TypeError, "lo must hold integers, not float64", {"lo": 0.5}),
        (ValueError, "lo must be a scalar or of shape [2], not of shape [3]", {"lo": [1, 2, 3]}),
        (ValueError, "scale must be zero or positive, not nan", {"scale": np.array([1, np.nan], np.float32)}),
        (ValueError, "scale must be zero or positive, not -1.0", {"scale": np.array([-1, 1], np.float32)}),
    ],
)
def test_errors(kind, message, changes):
    usual = {"scale": np.array([0.5, 0.25], np.float32), "zero_point": 0, "output": INT8, "lo": -5, "hi": 5}
    with pytest.raises(kind) as error:
        float32_steps(**usual | changes)
    assert message in str(error.value)


def test_steps_over_different_ranges_are_not_compared():
    one = float32_steps(np.float32(0.5), 0, INT8, -5, 5)
    with pytest.raises(ValueError, match="over the same accumulators"):
        differences(one, float32_steps(np.float32(0.5), 0, INT8, -5, 6))
    with pytest.raises(ValueError, match="same output and columns, not int8 x 1 and uint8 x 1"):
        differences(one, float32_steps(np.float32(0.5), 0, UINT8, -5, 5))


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 7, 8, 9, 16, 17])
def test_steps_of_ranges_as_wide_as_powers_of_two(width):
    """Each level's first accumulator, or the one behind the range, wherever the search has to end."""
    for lo in range(-9, 6, 3):
        hi = lo + width - 1
        accumulators = np.arange(lo, hi + 1)
        y = float32_formula(accumulators, 0.7, 0, INT8)
        steps = float32_steps(np.float32([0.7]), 0, INT8, lo, hi)
        for index, level in enumerate(range(INT8.min + 1, INT8.max + 1)):
            reached = accumulators[y >= level]
            assert steps.start[index, 0] == (reached[0] if reached.size else hi + 1)


def test_one_bound_serves_all_columns():
    requantization = Requantization.from_scales(np.array([0.5, 0.25], np.float32), 0, INT8)
    one, each = (
        integer_steps(requantization, np.array(lo), np.array(hi)) for lo, hi in (([-9], [9]), ([-9] * 2, [9] * 2))
    )
    assert np.array_equal(one.start, each.start)
    assert (one.lo.tolist(), one.hi.tolist()) == ([-9, -9], [9, 9])
