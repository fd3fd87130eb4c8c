"""A bias: com.microsoft's QGemm and MatMulInteger with an Add, of every shape that broadcasts to the result."""

from __future__ import annotations

import numpy as np
import pytest
from engines import CONFIGS, SMALL, engine
from operations import onnxruntime_result, random_operation, values

from systoliq.golden import IntFormat, combined_scale, matmul_integer, requantize_float32
from systoliq.golden.parameters import along


def golden(operation, bias):
    """The formula: the sums plus the bias, in int32, which wraps; then rescaled."""
    if not operation.is_qlinear:
        return matmul_integer(*operation.inputs) + bias
    a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point = operation.inputs
    acc = matmul_integer(a, b, a_zero_point, b_zero_point) + bias
    scale = combined_scale(
        along("row", "a_scale", np.asarray(a_scale), a.shape),
        along("column", "b_scale", np.asarray(b_scale), b.shape),
        y_scale.reshape(()),
    )
    if scale.ndim:  # a parameter that is no scalar keeps the dimension that the product lost
        scale = scale[..., 0, :] if a.ndim == 1 else scale[..., 0] if b.ndim == 1 else scale
    return requantize_float32(acc, scale, int(y_zero_point.reshape(())), IntFormat.of(y_zero_point.dtype))


def plan(hardware, operation, bias):
    return (hardware.plan_qlinear_matmul if operation.is_qlinear else hardware.plan_matmul_integer)(
        *operation.inputs, bias=bias
    )


def random_bias(rng, shape):
    """int32 that broadcasts to `shape`: small and large, per column more often than not."""
    if rng.random() < 0.5:
        own = shape[-1:]
    else:
        own = tuple(length if rng.random() < 0.5 else 1 for length in shape)[rng.integers(len(shape) + 1) :]
    most = int(rng.choice([20000, 2**31 - 1]))
    return rng.integers(-most, most, own, endpoint=True).astype(np.int32)


def check(hardware, cases, seed):
    results = hardware.run([plan(hardware, *case) for case in cases], stalls=(0.1, 0.1, 0.2), seed=seed)
    for case, result in zip(cases, results, strict=True):
        expected = golden(*case)
        assert result.y.dtype == expected.dtype
        np.testing.assert_array_equal(result.y, expected)


def random_cases(count, most, seed):
    rng = np.random.default_rng(seed)
    operations = [random_operation(rng, most) for _ in range(count)]
    return [(operation, random_bias(rng, operation.golden().shape)) for operation in operations]


@pytest.mark.sampled(99)
@pytest.mark.parametrize(("name", "count", "most"), [("odd", 8, 20), ("large", 16, 60), ("weights", 12, 40)])
def test_random_operations(name, count, most):
    check(engine(CONFIGS[name]), random_cases(count, most, seed=count), seed=count)


@pytest.mark.sampled(2)
def test_random_operations_on_both(small):
    check(small, random_cases(8, 12, seed=5), seed=5)


def test_cut_in_n_and_m():
    """Each job gets the bias of its own columns, also where the table or a buffer is the reason for a cut."""
    hardware = engine()
    rng = np.random.default_rng(6)
    plans, wanted = [], []
    for m, k, n in ((3, 4, SMALL.max_columns + 9), (9, 40, 14), (9, 2 * SMALL.b_words + 1, 6), (5, 300, 7)):
        a, b = values(rng, np.uint8, (m, k)), values(rng, np.int8, (k, n))
        bias = rng.integers(-9999, 9999, n).astype(np.int32)
        plans.append(hardware.plan_matmul_integer(a, b, bias=bias))
        assert len(plans[-1].jobs) > 1
        wanted.append(matmul_integer(a, b) + bias)
    for result, expected in zip(hardware.run(plans), wanted, strict=True):
        np.testing.assert_array_equal(result.y, expected)


def test_few_columns_are_transposed():
    """A bias for each row is a bias for each column of the transposed job; with scales per row and a bias per column
    neither form is one job, and the one with fewer is taken.
    """
    hardware = engine()
    rng = np.random.default_rng(8)
    a, b = values(rng, np.int8, (6, 5)), values(rng, np.int8, (5, 3))
    one, zero = np.float32(1), np.int8(0)
    a_scale, y_scale = rng.uniform(1, 2, 6).astype(np.float32), np.float32(600)

    def planned(scale, shape):
        bias = rng.integers(-9999, 9999, shape).astype(np.int32)
        return hardware.plan_qlinear_matmul(a, scale, zero, b, one, zero, y_scale, zero, bias=bias), bias, scale

    cases = [planned(one, (6, 1)), planned(a_scale, 3), planned(one, (6, 3)), planned(a_scale, ()), planned(one, 3)]
    assert [len(plan.jobs) for plan, _, _ in cases] == [1, 3, 3, 1, 1]
    assert [plan.placed[0].transposed for plan, _, _ in cases] == [True, True, True, True, False]
    for result, (_, bias, scale) in zip(hardware.run([plan for plan, _, _ in cases]), cases, strict=True):
        column = np.float32(scale).reshape(-1, 1) / y_scale
        expected = requantize_float32(matmul_integer(a, b) + bias, column, 0, IntFormat.of(np.dtype(np.int8)))
        np.testing.assert_array_equal(result.y, expected)


def test_a_sum_of_nothing_is_the_bias():
    hardware = engine()
    a, b, one = np.ones((2, 0), np.int8), np.ones((0, 3), np.int8), np.float32(1)
    bias = np.array([5, -7, 400], np.int32)
    np.testing.assert_array_equal(hardware.matmul_integer(a, b, bias=bias), np.tile(bias, (2, 1)))
    y = hardware.qlinear_matmul(a, one, np.int8(1), b, one, np.int8(1), np.float32(2), np.uint8(10), bias=bias)
    np.testing.assert_array_equal(y, [[12, 6, 210]] * 2)  # 2.5 and -3.5 round to even
    y = hardware.qlinear_matmul(a[0], one, np.int8(1), b[:, 0], one, np.int8(1), one, np.uint8(10), bias=bias[0])
    assert y.shape == ()
    assert y == 15
    assert hardware.reports == ()


def test_bad_bias():
    hardware = engine()
    a, b = np.ones((2, 3), np.int8), np.ones((3, 4), np.int8)
    with pytest.raises(TypeError, match="bias must be int32, not int64"):
        hardware.plan_matmul_integer(a, b, bias=np.zeros(4, np.int64))
    for shape in ((3,), (2,), (1, 2, 4)):
        message = rf"bias must broadcast to the result's shape \[2, 4\], which shape \[{', '.join(map(str, shape))}\]"
        with pytest.raises(ValueError, match=message):
            hardware.plan_matmul_integer(a, b, bias=np.zeros(shape, np.int32))


def test_equals_onnxruntime():
    """com.microsoft's QGemm, where onnxruntime has the type mix; signed b keep to 7 bits (see `test_operators`)."""
    pytest.importorskip("onnxruntime", reason="onnxruntime is the reference here")
    pytest.importorskip("onnx", reason="onnx builds the models")
    hardware = engine()
    rng = np.random.default_rng(4)
    plans, wanted = [], []
    for index, (a_type, b_type, y_type) in enumerate(
        [("int8", "int8", "int8"), ("uint8", "int8", "uint8"), ("uint8", "uint8", "uint8")] * 5
    ):
        m, k, n = rng.integers(2, 14, 3)
        a, b = values(rng, np.dtype(a_type), (m, k)), values(rng, np.dtype(b_type), (k, n))
        b = b // 2 if b_type == "int8" else b
        a_zp, y_zp = values(rng, np.dtype(a_type), ()), values(rng, np.dtype(y_type), ())
        b_zp = np.zeros(n, b_type) if b_type == "int8" else np.full(n, 128, b_type)
        b_scale = rng.uniform(0.01, 0.05, n).astype(np.float32)
        y_scale = np.float32(0.03 * 0.03 * 50 * np.sqrt(k))
        bias = rng.integers(-99999, 99999, [(n,), (1, n), (1,), (m, 1), (m, n)][index % 5]).astype(np.int32)
        scale = np.float32(0.03)
        plans.append(hardware.plan_qlinear_matmul(a, scale, a_zp, b, b_scale, b_zp, y_scale, y_zp, bias=bias))
        inputs = (a, scale, a_zp, b, b_scale, b_zp, bias, y_scale, y_zp)
        wanted.append(onnxruntime_result("QGemm", y_type, inputs, domain="com.microsoft"))
    for result, expected in zip(hardware.run(plans), wanted, strict=True):
        np.testing.assert_array_equal(result.y, expected)
