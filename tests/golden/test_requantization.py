"""The integer forms against the float32 formula, written out here in numpy, and against exact rationals."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from systoliq.golden.formats import INT8, INT32, UINT8, IntFormat
from systoliq.golden.requantization import Requantization, Rounding

NEAREST, FLOOR = Rounding.NEAREST, Rounding.FLOOR
repeatable = settings(derandomize=True, deadline=None, max_examples=500)


def float32_formula(acc, scale, zero_point, output):
    with np.errstate(over="ignore", under="ignore"):
        product = np.asarray(acc).astype(np.float32) * np.asarray(scale, dtype=np.float32)
    return np.rint(np.clip(product, output.min - zero_point, output.max - zero_point)).astype(np.int64) + zero_point


def rational_nearest(acc, scale, zero_point, output):
    return min(max(round(acc * Fraction(float(scale))) + zero_point, output.min), output.max)


def thresholds(scale, zero_point, output, lo=INT32.min, hi=INT32.max):
    """The least accumulator of every column that reaches each level by the float32 formula; hi + 1 where none does."""
    levels = np.arange(output.min + 1, output.max + 1)[:, None]
    start = np.full((levels.size, scale.size), lo, dtype=np.int64)
    end = np.full_like(start, hi + 1)
    while (start < end).any():
        middle = np.minimum((start + end) // 2, hi)
        reached = float32_formula(middle, scale, zero_point, output) >= levels
        start, end = np.where(reached, start, middle + 1), np.where(reached, middle, end)
    return start


def both_sides(start, lo=INT32.min, hi=INT32.max):
    """The accumulators that decide everything where outputs never fall: around each threshold, and the two ends."""
    ends = np.full((1, start.shape[1]), lo), np.full((1, start.shape[1]), hi)
    return np.clip(np.concatenate([start - 1, start, *ends]), lo, hi)


@pytest.mark.parametrize("output", [INT8, UINT8], ids=str)
def test_near_tie_is_exact_at_every_threshold_of_10000_scales_over_int32(output):
    rng = np.random.default_rng(20240601)
    scales = np.exp2(rng.uniform(-40, 4, 10000)).astype(np.float32)
    for scale in np.split(scales, 20):
        zero_point = int(rng.integers(output.min, output.max + 1))
        acc = both_sides(thresholds(scale, zero_point, output))
        found = Requantization.from_scales(scale, zero_point, output).apply(acc)
        np.testing.assert_array_equal(found, float32_formula(acc, scale, zero_point, output))
        assert found.dtype == output.dtype


@pytest.mark.parametrize("bits", range(2, 17))
@pytest.mark.parametrize("signed", [True, False], ids=["int", "uint"])
def test_near_tie_is_exact_at_every_threshold_of_every_output_format(bits, signed):
    output = IntFormat(bits, signed=signed)
    rng = np.random.default_rng(bits)
    few = max(4, 4000 >> bits)
    for zero_point in {output.min, output.max, int(rng.integers(output.min, output.max + 1))}:
        scale = np.exp2(rng.uniform(-40, 18, few)).astype(np.float32)
        acc = both_sides(thresholds(scale, zero_point, output))
        found = Requantization.from_scales(scale, zero_point, output).apply(acc)
        np.testing.assert_array_equal(found, float32_formula(acc, scale, zero_point, output))


@pytest.mark.sampled(99)
@pytest.mark.parametrize("part", range(13))
def test_near_tie_is_exact_on_every_accumulator_of_k_64_int8(part):
    rng = np.random.default_rng(64 + part)
    acc = np.arange(64 * -128 * 127, 64 * 128 * 128 + 1)
    for scale in np.exp2(rng.uniform(-14, 0, 8)).astype(np.float32):
        zero_point = int(rng.integers(-128, 128))
        found = Requantization.from_scales(scale, zero_point, INT8).apply(acc)
        assert np.count_nonzero(found != float32_formula(acc, scale, zero_point, INT8)) == 0


def test_near_tie_is_exact_at_every_float32_scale_exponent():
    exponents = np.arange(-149, 128)
    rng = np.random.default_rng(3)
    mantissas = 1 + rng.integers(0, 1 << 23, exponents.size) * 2.0**-23
    for scale in (np.exp2(exponents.astype(float)), mantissas * np.exp2(exponents.astype(float))):
        scale = scale.astype(np.float32)
        for output, zero_point in ((INT8, -7), (UINT8, 255), (IntFormat(10, signed=True), -512)):
            acc = both_sides(thresholds(scale, zero_point, output))
            found = Requantization.from_scales(scale, zero_point, output).apply(acc)
            np.testing.assert_array_equal(found, float32_formula(acc, scale, zero_point, output))


def test_power_of_two_scales_tie_to_even():
    scale = np.exp2(-np.arange(12.0)).astype(np.float32)
    acc = np.repeat(np.arange(-3000, 3001)[:, None], scale.size, axis=1)
    expected = [[rational_nearest(int(a), s, 5, INT8) for s in scale] for a in acc[:, 0]]
    np.testing.assert_array_equal(Requantization.from_scales(scale, 5, INT8).apply(acc), expected)
    np.testing.assert_array_equal(float32_formula(acc, scale, 5, INT8), expected)


def test_tiny_scale_and_huge_bias():
    rng = np.random.default_rng(5)
    scale = np.array([1e-11, 1e-10, 2.0**-31, 3e-7, 1e-45, 0], dtype=np.float32)
    bias = np.array([-(2**30), 2**30, -(2**31), 2**31 - 1, 2**24, -(2**24)])
    acc = np.clip(bias[:, None, None] + rng.integers(-(2**21), 2**21, (6, 5000, 1)), INT32.min, INT32.max)
    found = Requantization.from_scales(scale, -3, INT8).apply(np.broadcast_to(acc, (6, 5000, 6)))
    np.testing.assert_array_equal(found, float32_formula(acc, scale, -3, INT8))
    assert Requantization.from_scales(scale, -3, INT8).multiplier[0] == 0


def test_multiplier_flushes_to_zero_only_where_no_accumulator_moves():
    edge = np.float32(2.0**-32)
    above = np.nextafter(edge, np.float32(1))
    assert Requantization.from_scales(edge, 0, INT8).multiplier == (0,)
    assert float32_formula(INT32.min, edge, 0, INT8) == 0
    assert (
        Requantization.from_scales(above, 0, INT8).apply(INT32.min) == float32_formula(INT32.min, above, 0, INT8) == -1
    )


def edge_of_near_tie():
    """(acc, M, S, n): acc * M / 2^S lies exactly 2^(i - 24) from n + 1/2, where i is n's leading one."""
    for n in range(128):
        leading = n.bit_length() - 1
        for extra in range(4):
            shift = 24 - leading + extra
            for side in (-1, 1):
                product = ((2 * n + 1) << (shift - 1)) + (side << extra)
                for acc in range(1, 4000):
                    multiplier, rest = divmod(product, acc)
                    if not rest and multiplier < 1 << 24:
                        yield acc, multiplier, shift, n
                        break


def test_a_product_half_a_last_place_from_a_tie_is_a_tie():
    cases = list(edge_of_near_tie())
    assert len(cases) > 100
    for acc, multiplier, shift, n in cases:
        scale = np.float32(multiplier * 2.0**-shift)
        assert abs(acc * Fraction(float(scale)) - n - Fraction(1, 2)) == Fraction(2) ** (n.bit_length() - 25)
        for sign, even in ((1, n + n % 2), (-1, -(n + n % 2))):
            expected = np.clip(even, -128, 127)
            assert float32_formula(sign * acc, scale, 0, INT8) == expected
            assert Requantization.from_scales(scale, 0, INT8).apply(sign * acc) == expected


@repeatable
@given(
    acc=st.integers(INT32.min, INT32.max) | st.integers(-(2**12), 2**12) | st.integers(2**24, 2**25),
    scale=st.floats(min_value=0, max_value=2.0**127, width=32, allow_subnormal=True),
    bits=st.integers(2, 16),
    data=st.data(),
)
def test_near_tie_is_exact_anywhere(acc, scale, bits, data):
    output = IntFormat(bits, signed=data.draw(st.booleans()))
    zero_point = data.draw(st.integers(output.min, output.max))
    found = Requantization.from_scales(np.float32(scale), zero_point, output).apply(acc)
    assert found == float32_formula(acc, scale, zero_point, output)


@repeatable
@given(
    acc=st.integers(INT32.min, INT32.max) | st.integers(-(2**12), 2**12),
    scale=st.floats(min_value=0, max_value=2.0**20, width=32),
    zero_point=st.integers(0, 255),
)
def test_nearest_is_the_exact_product_half_to_even(acc, scale, zero_point):
    found = Requantization.from_scales(np.float32(scale), zero_point, UINT8, rounding=NEAREST).apply(acc)
    assert found == rational_nearest(acc, scale, zero_point, UINT8)


@repeatable
@given(
    acc=st.integers(INT32.min, INT32.max),
    multiplier=st.integers(0, 2**30 - 1),
    shift=st.integers(0, 61),
    offset=st.integers(-(2**61), 2**61),
)
def test_floor_is_the_shifted_sum(acc, multiplier, shift, offset):
    form = Requantization(
        multiplier=(multiplier,), shift=(shift,), offset=(offset,), zero_point=-4, output=INT8, rounding=FLOOR
    )
    assert form.apply(acc) == min(max((acc * multiplier + offset) // 2**shift - 4, -128), 127)


@repeatable
@given(
    acc=st.integers(INT32.min, INT32.max - 1) | st.integers(-(2**10), 2**10),
    multiplier=st.integers(0, 2**30 - 1),
    shift=st.integers(0, 55),
    rounding=st.sampled_from(Rounding),
)
def test_every_form_is_monotone_for_any_constants(acc, multiplier, shift, rounding):
    output = IntFormat(16, signed=True)
    form = Requantization(
        multiplier=(multiplier,), shift=(shift,), offset=(0,), zero_point=0, output=output, rounding=rounding
    )
    before, after = form.apply([[acc], [acc + 1]])[:, 0]
    assert before <= after


@pytest.mark.parametrize(("scale", "acc"), [(0.01, -12750), (0.02, -6375), (0.005, -25500), (0.1, -1265), (0.3, -315)])
def test_24_bits_rounded_to_nearest_miss_float32(scale, acc):
    scale = np.float32(scale)
    expected = float32_formula(acc, scale, 0, INT8)
    assert abs(int(Requantization.from_scales(scale, 0, INT8, rounding=NEAREST).apply(acc)) - expected) == 1
    assert Requantization.from_scales(scale, 0, INT8).apply(acc) == expected


def test_half_up_misses_float32_on_ties():
    half_up = Requantization.from_scales(np.float32(0.5), 0, INT8, rounding=FLOOR)
    acc = np.array([-5, -3, -1, 1, 3, 5])[:, None]
    assert half_up.apply(acc)[:, 0].tolist() == [-2, -1, 0, 1, 2, 3]
    assert float32_formula(acc, 0.5, 0, INT8)[:, 0].tolist() == [-2, -2, 0, 0, 2, 2]


def test_constants_are_stripped_and_fit_the_hardware():
    scales = np.exp2(np.random.default_rng(9).uniform(-32, 9, 5000)).astype(np.float32)
    form = Requantization.from_scales(scales, 0, INT8)
    for scale, multiplier, shift in zip(scales.tolist(), form.multiplier, form.shift, strict=True):
        assert 0 < multiplier < 1 << 24
        assert 0 <= shift < 64
        assert multiplier % 2 == 1 or shift == 0
        assert Fraction(multiplier, 1 << shift) == min(Fraction(scale), 256)


@pytest.mark.parametrize("bits", [1, 8, 15, 23])
def test_fewer_multiplier_bits_round_the_mantissa_half_to_even(bits):
    scales = np.exp2(np.random.default_rng(bits).uniform(-20, -1, 500)).astype(np.float32)
    form = Requantization.from_scales(scales, 0, INT8, multiplier_bits=bits)
    assert form.multiplier_bits <= bits
    for scale, multiplier, shift in zip(scales.tolist(), form.multiplier, form.shift, strict=True):
        mantissa, exponent = np.frexp(scale)
        unit = Fraction(2) ** (int(exponent) - bits)
        assert Fraction(multiplier, 1 << shift) == round(Fraction(float(mantissa)) * 2**bits) * unit


def test_greatest_constants():
    made = constants(multiplier=((1 << 30) - 1,), shift=(61,), offset=(1 << 61,), rounding=FLOOR)
    assert made.apply(INT32.max) == 1
    assert made.replace(offset=(-(1 << 61),)).apply(INT32.max) == -1


@pytest.mark.parametrize(("scale", "multiplier", "shift"), [(3 / 8, 1, 1), (5 / 8, 1, 1), (7 / 8, 1, 0), (9 / 8, 1, 0)])
def test_a_mantissa_between_two_goes_to_the_even_one(scale, multiplier, shift):
    """3 and 5 lie between 2, 4 and 6 of two bits; of one bit, 3 lies between 2 and 4."""
    made = Requantization.from_scales(scale, 0, INT8, multiplier_bits=1 if scale == 3 / 8 else 2)
    assert (made.multiplier, made.shift) == ((multiplier,), (shift,))


def test_columns():
    form = Requantization.from_scales(np.array([0.5, 0.375], dtype=np.float32), 1, INT8)
    assert (form.columns, form.multiplier_bits) == (2, 2)
    assert form.column(1) == Requantization.from_scales(np.float32(0.375), 1, INT8)
    assert form.apply(np.full((3, 4, 2), 8)).tolist() == [[[5, 4]] * 4] * 3
    assert form.column(1).apply(np.arange(3)).tolist() == [1, 1, 2]
    assert form.replace(zero_point=0).apply([8, 8]).tolist() == [4, 3]


def constants(**changes):
    usual = {"multiplier": (3,), "shift": (4,), "offset": (0,), "zero_point": 0, "output": INT8}
    return Requantization(**usual | changes)


@pytest.mark.parametrize(
    ("kind", "message", "make"),
    [
        (TypeError, "output must be an IntFormat, not 'int8'", lambda: constants(output="int8")),
        (ValueError, "output must have at most 16 bits, not 32", lambda: constants(output=INT32)),
        (TypeError, "rounding must be a Rounding, not 'floor'", lambda: constants(rounding="floor")),
        (TypeError, "zero_point must be an int, not 0.5", lambda: constants(zero_point=0.5)),
        (ValueError, "zero_point must be in int8, -128 to 127, not 128", lambda: constants(zero_point=128)),
        (ValueError, "multiplier must be 0 to 1073741823, not -1", lambda: constants(multiplier=(-1,))),
        (ValueError, "multiplier must be 0 to 1073741823, not 1073741824", lambda: constants(multiplier=(1 << 30,))),
        (ValueError, "shift must be 0 to 61, not -1", lambda: constants(shift=(-1,))),
        (ValueError, "shift must be 0 to 61, not 62", lambda: constants(shift=(62,))),
        (
            ValueError,
            "offset must be -2305843009213693952 to 2305843009213693952, not 2305843009213693953",
            lambda: constants(offset=((1 << 61) + 1,), rounding=FLOOR),
        ),
        (TypeError, "shift must be an int, not True", lambda: constants(shift=(True,))),
        (ValueError, "offset must be 0 unless rounding is floor, not (1,)", lambda: constants(offset=(1,))),
        (ValueError, "one entry per column each, not 2, 1 and 1", lambda: constants(multiplier=(1, 2))),
        (
            TypeError,
            "scale must be float32, float16 or bfloat16, not int64",
            lambda: Requantization.from_scales([1, 2], 0, INT8),
        ),
        (
            ValueError,
            "scale must be a scalar or of shape [N], not of shape [1, 2]",
            lambda: Requantization.from_scales(np.ones((1, 2), np.float32), 0, INT8),
        ),
        (
            ValueError,
            "scale must be zero or positive, and finite, not nan",
            lambda: Requantization.from_scales(np.float32("nan"), 0, INT8),
        ),
        (
            ValueError,
            "scale must be zero or positive, and finite, not inf",
            lambda: Requantization.from_scales(np.float32("inf"), 0, INT8),
        ),
        (
            ValueError,
            "scale must be zero or positive, and finite, not -0.5",
            lambda: Requantization.from_scales(-0.5, 0, INT8),
        ),
        (
            ValueError,
            "multiplier_bits must be 1 to 24, not 25",
            lambda: Requantization.from_scales(0.5, 0, INT8, multiplier_bits=25),
        ),
        (TypeError, "output must be an IntFormat, not 8", lambda: Requantization.from_scales(0.5, 0, 8)),
        (TypeError, "acc must hold integers, not float64", lambda: constants().apply(1.5)),
        (ValueError, "acc must be in int32, not 2147483648", lambda: constants().apply(2**31)),
        (
            ValueError,
            "acc must be of shape [..., 2], not [3]",
            lambda: Requantization.from_scales(np.ones(2, np.float32), 0, INT8).apply([1, 2, 3]),
        ),
    ],
)
def test_errors(kind, message, make):
    with pytest.raises(kind) as error:
        make()
    assert message in str(error.value)
