"""golden against onnxruntime: every type mix it has, random products, and both sides of every step of many scales.

Random accumulators rarely meet the ones where two roundings differ, so the steps of acc -> y are found first by
bisection. Accumulators are driven in two ways: through the bias of com.microsoft.QGemm, whose product is made 0, and
through products that reach every value in a range. Signed weights keep to 7 bits: onnxruntime saturates inside for
u8 x s8 on machines with AVX2 but without VNNI.
"""

import zlib

import numpy as np
import pytest

from systoliq.golden import IntFormat, combined_scale, matmul_integer, qlinear_matmul, requantize_float32

from .in_onnxruntime import run

MIXES = [("int8", "int8", "int8"), ("uint8", "int8", "uint8"), ("uint8", "uint8", "uint8")]
mixes = pytest.mark.parametrize(("a_type", "b_type", "y_type"), MIXES, ids=["-".join(mix) for mix in MIXES])


def requantize_by_qgemm(acc, a_scale, b_scale, y_scale, zero_point, types):
    """The rescale by onnxruntime of the accumulators acc [M, N], given to QGemm as the bias of a product that is 0."""
    a_type, b_type, y_type = types
    m, n = acc.shape
    a, b = np.zeros((m, 1), a_type), np.zeros((1, n), b_type)
    a_zero_point, b_zero_point = np.zeros((), a_type), np.zeros(n, b_type)
    y_zero_point = np.array(zero_point, y_type)
    inputs = (a, a_scale, a_zero_point, b, b_scale, b_zero_point, acc, y_scale, y_zero_point)
    return run("QGemm", y_type, *inputs, domain="com.microsoft")


def threshold_accumulators(scale, zero_point, y_type):
    """Both sides of each step of acc -> y, for each of `scale` [N]: int32 [2 * steps, N].

    The float32 formula is written out here only to choose the points; what is right at them is onnxruntime's word.
    """
    limits = np.iinfo(y_type)
    targets = np.arange(limits.min + 1, limits.max + 1, dtype=np.int64)[:, np.newaxis]
    low = np.full((len(targets), len(scale)), -(2**31), np.int64)  # y(low) < target, where there is such an acc
    high = np.full_like(low, 2**31 - 1)
    while (high - low > 1).any():
        middle = (low + high) >> 1
        reached = np.rint(middle.astype(np.float32) * scale) + zero_point >= targets
        high, low = np.where(reached, middle, high), np.where(reached, low, middle)
    return np.concatenate([low, high]).astype(np.int32)


def some_scales(rng, count, plain):
    """Scales of a, b [count] and y. Where `plain`, a and y have 1, so that b's powers of two make ties abound."""
    b_scale = np.exp2(rng.uniform(-24, 3, count)).astype(np.float32)
    b_scale[:28] = np.exp2(np.arange(-25, 3, dtype=np.float32))
    a_scale, y_scale = np.ones(2, np.float32) if plain else rng.uniform(0.5, 2, 2).astype(np.float32)
    return a_scale, b_scale, y_scale


@pytest.mark.parametrize("plain", [True, False], ids=["plain", "general"])
@pytest.mark.parametrize("zero_point", ["least", 3, 24, "greatest"])
@mixes
def test_every_step_of_500_scales(a_type, b_type, y_type, zero_point, plain):
    rng = np.random.default_rng(zlib.crc32(f"{a_type} {b_type} {zero_point}".encode()))
    limits = np.iinfo(y_type)
    zero_point = {"least": limits.min, "greatest": limits.max}.get(zero_point, zero_point)
    a_scale, b_scale, y_scale = some_scales(rng, 500, plain)
    scale = combined_scale(a_scale, b_scale, y_scale)
    acc = np.concatenate(
        [
            threshold_accumulators(scale, zero_point, y_type),
            rng.integers(-(2**31), 2**31, (40, 500)).astype(np.int32),
            rng.integers(-(2**20), 2**20, (40, 500)).astype(np.int32),
            np.array([[-(2**31)], [-(2**24) - 1], [-1], [0], [1], [2**24 + 1], [2**31 - 1]], np.int32).repeat(500, 1),
        ]
    )
    expected = requantize_by_qgemm(acc, a_scale, b_scale, y_scale, zero_point, (a_type, b_type, y_type))
    np.testing.assert_array_equal(
        requantize_float32(acc, scale, zero_point, IntFormat.of(np.dtype(y_type))), expected, strict=True
    )
    assert acc.size > 250_000  # with three type mixes and four zero points, twice: 6 million outputs


@mixes
def test_scales_that_are_not_sensible(a_type, b_type, y_type):
    scales = np.array([np.nan, np.inf, -np.inf, 0, -0.25, 1e-45, 3e38], np.float32)
    acc = np.array([-(2**31), -3, -2, -1, 0, 1, 2, 3, 2**31 - 1], np.int32)[:, np.newaxis].repeat(len(scales), 1)
    one = np.float32(1)
    expected = requantize_by_qgemm(acc, one, scales, one, 5, (a_type, b_type, y_type))
    np.testing.assert_array_equal(requantize_float32(acc, scales, 5, IntFormat.of(np.dtype(y_type))), expected)


@pytest.mark.parametrize("y_scale", [1.0, -2.0, 0.0, -0.0, 1e-40, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("a_scale", [1.0, -0.5, np.inf, np.nan])
@mixes
def test_qlinear_matmul_with_scales_that_are_not_sensible(a_type, b_type, y_type, a_scale, y_scale):
    """Negative, NaN, infinite and zero scales of every input, per column for b; row 3 of the sums is 0."""
    rng = np.random.default_rng(5)
    b_scale = np.array([np.nan, np.inf, -np.inf, 0, -0.0, -0.25, -0.013, 1e-45, 3e38, -1e-45, 0.02, -3e38], np.float32)
    a, a_zero_point, b, _, _ = random_operands(rng, a_type, b_type, (64, 9), (9, b_scale.size))
    a[3] = a_zero_point
    scales = np.float32(a_scale), b_scale, np.float32(y_scale)
    inputs = (a, scales[0], a_zero_point, b, scales[1], np.zeros(b_scale.size, b_type), scales[2], np.array(7, y_type))
    np.testing.assert_array_equal(qlinear_matmul(*inputs), run("QLinearMatMul", y_type, *inputs), strict=True)


@pytest.mark.parametrize("seed", range(10))
@mixes
def test_steps_reached_by_products(a_type, b_type, y_type, seed):
    """The sum a0 + 63 * (a1 + ... + a31) takes every value of a range, so the product itself meets the steps."""
    rng = np.random.default_rng(seed)
    y_zero_point = int(rng.integers(0, 100))
    a_scale, b_scale, y_scale = (np.float32(value) for value in rng.uniform(0.05, 0.2, 3))
    scale = combined_scale(a_scale, b_scale, y_scale).reshape(1)
    a_zero_point, least = (128, -128) if a_type == "uint8" else (0, -128)
    acc = threshold_accumulators(scale, y_zero_point, y_type)[:, 0].astype(np.int64)
    rest, first = np.divmod(acc, 63)
    part = np.clip(np.add.outer(-np.arange(31) * 127, rest), least, 127)
    part = np.where(rest < 0, np.clip(np.add.outer(np.arange(31) * 128, rest), least, 0), np.maximum(part, 0))
    a = (np.concatenate([first[np.newaxis], part]).T + a_zero_point).astype(a_type)
    b = np.array([[1]] + [[63]] * 31, b_type)
    a_zero_point, b_zero_point = np.array(a_zero_point, a_type), np.zeros((), b_type)
    inputs = (a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, np.array(y_zero_point, y_type))
    reached = matmul_integer(a, b, a_zero_point)[:, 0] == acc
    assert reached.mean() > 0.9
    np.testing.assert_array_equal(qlinear_matmul(*inputs), run("QLinearMatMul", y_type, *inputs), strict=True)


def random_operands(rng, a_type, b_type, a_shape, b_shape):
    def draw(dtype, shape):
        limits = (-64, 63) if dtype == "int8" else (0, 255)
        return rng.integers(*limits, shape, endpoint=True).astype(dtype)

    per_column = b_shape[-1:] if len(b_shape) == 2 else (*b_shape[:-2], 1, b_shape[-1])
    columns = per_column if rng.integers(2) else ()
    a = rng.integers(0, 256, a_shape).astype(np.uint8).view(a_type)
    return a, draw(a_type, ()), draw(b_type, b_shape), draw(b_type, columns), columns


SHAPES = [
    ((37, 64), (64, 10)),
    ((1, 1), (1, 1)),
    ((129, 255), (255, 65)),
    ((4, 3, 17), (4, 17, 5)),
    ((2, 3, 5, 8), (8, 6)),
    ((200, 300), (300, 250)),
]


@pytest.mark.parametrize("scale_type", ["float32", "float16"])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@mixes
def test_random_qlinear_matmul(a_type, b_type, y_type, shapes, scale_type):
    rng = np.random.default_rng(sum(shapes[0]))
    a, a_zero_point, b, b_zero_point, columns = random_operands(rng, a_type, b_type, *shapes)
    y_zero_point = rng.integers(0, 100, ()).astype(y_type)
    a_scale, b_scale, y_scale = (rng.uniform(0.01, 0.3, shape).astype(scale_type) for shape in ((), columns, ()))
    y_scale = (y_scale * np.sqrt(np.float32(a.shape[-1]))).astype(scale_type)
    inputs = (a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point)
    np.testing.assert_array_equal(qlinear_matmul(*inputs), run("QLinearMatMul", y_type, *inputs), strict=True)


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("b_type", ["int8", "uint8"])
@pytest.mark.parametrize("a_type", ["int8", "uint8"])
def test_random_matmul_integer(a_type, b_type, shapes):
    rng = np.random.default_rng(sum(shapes[0]))
    a, a_zero_point, b, b_zero_point, _ = random_operands(rng, a_type, b_type, *shapes)
    inputs = (a, b, a_zero_point, b_zero_point)
    np.testing.assert_array_equal(matmul_integer(*inputs), run("MatMulInteger", "int32", *inputs), strict=True)
    np.testing.assert_array_equal(matmul_integer(a, b), run("MatMulInteger", "int32", a, b), strict=True)
