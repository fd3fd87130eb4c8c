"""qlinear_matmul with float8 against exact arithmetic: every product, random sums, every mix of types.

A test of random sums counts the outputs it compares; the slow ones compare more than a million in all.
"""

import itertools
from fractions import Fraction

import float8_oracle as oracle
import numpy as np
import pytest

from systoliq.golden import E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ, FLOAT8, INT8, qlinear_matmul
from systoliq.golden.float8_matmul import Sums, flag_bits, integer_sums, scaled
from systoliq.golden.float8_requantization import EXPONENTS, Float8Requantization
from systoliq.golden.wide import Wide

ONE = np.float32(1)
TYPES = oracle.FLOAT8 + oracle.INTEGERS
PAIRS = list(itertools.product(oracle.FLOAT8, repeat=2))
MIXES = list(itertools.product(TYPES, repeat=2))


def zero(name, zero_point=0):
    """The zero point of the type `name`, the integer `zero_point` where it can be another than 0."""
    return np.array(zero_point if name in oracle.INTEGERS else 0).astype(oracle.dtype(name))


@pytest.mark.sampled(9)
@pytest.mark.parametrize(("a_type", "b_type"), PAIRS)
def test_every_product(a_type, b_type):
    """256 x 256 products, to the four formats and int8, at scales that make ties, carries and subnormals."""
    a, b = (oracle.CODES.view(oracle.dtype(name)) for name in (a_type, b_type))
    left, right = oracle.values(a_type), oracle.values(b_type)
    with np.errstate(invalid="ignore"):
        products = np.multiply.outer(left, right)  # exact: significands of 8 bits
    for x, y in itertools.product(oracle.finite(a_type), oracle.finite(b_type)):
        assert Fraction(float(x) * float(y)) == x * y
    distinct, inverse = np.unique(products, return_inverse=True)
    for y_type, scale in itertools.product((*oracle.FLOAT8, "int8"), (1.0, 2.0**-7, 0.3, -1e-4, 3e4)):
        output, s = oracle.Output(y_type), float(np.float32(scale))
        numbers = [oracle.fixed(v) if np.isfinite(v) else v for v in distinct.tolist()]
        codes = [output.round(oracle.times(number, oracle.UNIT, s)) for number in numbers]
        expected = np.array(codes)[inverse.reshape(products.shape)]
        inputs = a[:, np.newaxis], np.float32(s), zero(a_type), b[np.newaxis], ONE, zero(b_type), ONE, zero(y_type)
        y = qlinear_matmul(*inputs)
        assert y.dtype == oracle.dtype(y_type)
        np.testing.assert_array_equal(y.view(np.int8 if y_type == "int8" else np.uint8), expected)


def draw_codes(rng, name, shape):
    """Elements of the type `name`: rows of any code, few exponents, the greatest or subnormals; some specials."""
    if name in oracle.INTEGERS:
        return rng.integers(0, 256, shape).astype(np.uint8).view(name)
    count = len(oracle.finite(name))
    ranges = ((0, count), (0, 8), (count - 3, count), (count // 2, count // 2 + 9), (count // 3, count))
    first, last = np.array(ranges)[rng.integers(0, len(ranges), (shape[0], 1))].transpose(2, 0, 1)
    codes = rng.integers(first, last, shape) + rng.choice([0, 128], shape)
    specials = np.flatnonzero(~np.isfinite(oracle.values(name)))
    rare = rng.random(shape) < 0.004
    codes = np.where(rare, rng.choice(specials, shape), codes)
    if "fnuz" in name:
        codes = np.where((codes == 128) & ~rare, 0, codes)
    return codes.astype(np.uint8).view(oracle.dtype(name))


def draw_scales(rng, total, units, y_type, n):
    """Scales [n] of columns: most bring the sums `total` [M, n] into the range of `y_type`, some are not sensible."""
    reach = 127.0 if y_type in oracle.INTEGERS else float(oracle.finite(y_type)[-1])
    scales = np.empty(n, np.float32)
    for column in range(n):
        sizes = sorted(abs(v) for v in total[:, column].tolist() if isinstance(v, int) and v)
        typical = Fraction(sizes[len(sizes) // 2], 1 << units) if sizes else Fraction(1)
        scale = min(max(reach / float(typical), 1e-30), 1e30) * 2.0 ** rng.integers(-14, 3)
        scales[column] = 2.0 ** np.round(np.log2(scale)) if rng.integers(2) else scale * rng.uniform(1, 2)
    scales *= rng.choice(np.float32([1, 1, 1, -1]), n)
    special = np.float32([np.nan, np.inf, -np.inf, 0, -0.0, 1e-45, -3e-42, 3e38, -(2.0**-126), 1])
    scales[:: max(1, n // 5)] = rng.choice(special, scales[:: max(1, n // 5)].size)
    return scales


def compare_random_sums(a_type, b_type, m, n, ks):
    """Outputs compared, of every output type and each K of `ks`."""
    rng = np.random.default_rng([TYPES.index(a_type), TYPES.index(b_type), m])
    compared = 0
    for y_type, k in itertools.product(TYPES, ks):
        if {a_type, b_type, y_type} <= set(oracle.INTEGERS):
            continue
        a, b = draw_codes(rng, a_type, (m, k)), draw_codes(rng, b_type, (n, k)).T
        if k > 1:
            a[::7, 1], b[0, ::5] = a[::7, 0], b[1, ::5]  # with opposite signs a few sums cancel
            if a_type in oracle.FLOAT8:
                a.view(np.uint8)[::7, 1] ^= 0x80
        points = [int(rng.integers(0, 120)) if name in oracle.INTEGERS else 0 for name in (a_type, b_type, y_type)]
        total = oracle.sums(a, points[0], b, points[1])
        scale = draw_scales(rng, total, 40, y_type, n)
        output = oracle.Output(y_type, points[2])
        expected = np.array(
            [[output.round(oracle.times(v, 40, float(s))) for v, s in zip(row, scale, strict=True)] for row in total]
        )
        zeros = [zero(name, point) for name, point in zip((a_type, b_type, y_type), points, strict=True)]
        y = qlinear_matmul(a, ONE, zeros[0], b, scale, zeros[1], ONE, zeros[2])
        np.testing.assert_array_equal(y.view(np.int8 if y_type == "int8" else np.uint8), expected)
        compared += y.size
    return compared


@pytest.mark.parametrize(("a_type", "b_type"), MIXES)
def test_random_sums(a_type, b_type):
    assert compare_random_sums(a_type, b_type, 16, 15, (1, 2, 9, 40)) >= 3840


@pytest.mark.slow
@pytest.mark.parametrize(("a_type", "b_type"), MIXES)
def test_a_million_random_sums(a_type, b_type):
    """36 mixes, 208 with the output's types: 1.9 million outputs, of float8 operands and results 0.6 million."""
    assert compare_random_sums(a_type, b_type, 40, 38, (1, 2, 5, 17, 33, 64)) >= 4 * 9120


@pytest.mark.slow
@pytest.mark.parametrize(("a_type", "b_type"), PAIRS)
def test_a_million_random_sums_of_float8(a_type, b_type):
    """16 pairs with six types of output: 1.4 million more."""
    assert compare_random_sums(a_type, b_type, 121, 120, (12,)) == 6 * 121 * 120


@pytest.mark.parametrize("form", FLOAT8, ids=str)
def test_order_does_not_matter(form):
    rng = np.random.default_rng(3)
    a, b = draw_codes(rng, form.name, (30, 500)), draw_codes(rng, form.name, (30, 500)).T
    inputs = ONE, zero(form.name), np.float32(0.01), zero(form.name), ONE, zero(form.name)
    y = qlinear_matmul(a, *inputs[:2], b, *inputs[2:])
    for _ in range(5):
        order = rng.permutation(500)
        again = qlinear_matmul(a[:, order], *inputs[:2], b[order], *inputs[2:])
        np.testing.assert_array_equal(again.view(np.uint8), y.view(np.uint8))


@pytest.mark.parametrize("form", FLOAT8, ids=str)
def test_the_least_bit_of_a_long_sum_counts(form):
    """65536 greatest products, half of them negated, and one least: a float32 sum would lose it, and so the tie."""
    k, great, small = 65537, form.max_code, 1
    a = np.full((1, k), great, np.uint8)
    a[0, 1::2] |= 0x80
    a[0, 0], b = small, np.full((k, 1), great, np.uint8)
    b[0] = small
    scale = np.float32(2.0 ** -(2 * form.unit))  # the least product becomes 1
    name = form.name
    inputs = a.view(form.dtype), scale, zero(name), b.view(form.dtype), ONE, zero(name), np.float32(1), zero(name)
    assert qlinear_matmul(*inputs).view(np.uint8).tolist() == [[form.encode(np.float32(1)).item()]]


def test_flags_that_sums_need():
    """None of integers, one for NaN, another where there are infinities, of either operand."""
    flags = {"int8": 0, "e4m3fn": 1, "e4m3fnuz": 1, "e5m2": 2, "e5m2fnuz": 1}
    forms = {"int8": INT8, "e4m3fn": E4M3FN, "e4m3fnuz": E4M3FNUZ, "e5m2": E5M2, "e5m2fnuz": E5M2FNUZ}
    for a, b in itertools.product(forms, repeat=2):
        assert flag_bits(forms[a], forms[b]) == max(flags[a], flags[b]), (a, b)


def test_flags_name_infinities_and_nan():
    nothing = Wide.of_sums([(np.zeros(4, np.int64), 0)], 0)
    sums = Sums(nothing, np.array([False, False, False, True]), np.int8([0, 1, -1, 0]))
    assert sums.flags.tolist() == [0, 1, 2, 3]


def test_exponents_are_those_of_float32():
    ends = np.float32([np.finfo(np.float32).smallest_subnormal, np.finfo(np.float32).max])
    exponents = Float8Requantization.from_scales(ends, E4M3FN).exponent
    assert exponents == (EXPONENTS[0], EXPONENTS[-1])


def test_numbers_times_infinity_are_infinity_of_one_size():
    """Flags of -1 and 1; what 0 becomes is no number."""
    sums = scaled(integer_sums(np.array([3, -3, 0])), np.float32([[np.inf], [-np.inf]]))
    assert sums.infinity.tolist() == [[1, -1, 0], [-1, 1, 0]]
    assert sums.nan.tolist() == [[False, False, True]] * 2
