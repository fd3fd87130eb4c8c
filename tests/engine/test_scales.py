"""Scales that are negative, zero, subnormal, infinite or NaN, by the engine: the float32 formula, as in onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest
from engines import engine
from operations import onnxruntime_result, values

from systoliq.golden import qlinear_matmul

pytest.importorskip("onnx", reason="onnx builds the models")
pytest.importorskip("onnxruntime", reason="onnxruntime is the reference here")

MIXES = [("int8", "int8", "int8"), ("uint8", "int8", "uint8"), ("uint8", "uint8", "uint8")]
ANY = np.float32([np.nan, np.inf, -np.inf, 0, -0.0, -0.25, -0.013, 1e-45, 3e38, -1e-45, 0.02, -3e38])


def test_of_a_b_and_y_equal_onnxruntime(small):
    """Every scale of b in a column of its own, times those of a, by those of y; row 3 of the sums is 0."""
    rng = np.random.default_rng(2)
    plans, wanted = [], []
    for index, y_scale in enumerate([1.0, -2.0, 0.0, -0.0, 1e-40, np.inf, -np.inf, np.nan, -0.3]):
        a_type, b_type, y_type = MIXES[index % 3]
        a, b = values(rng, np.dtype(a_type), (6, 9)), values(rng, np.dtype(b_type), (9, ANY.size)) // 2
        a_zero_point = values(rng, np.dtype(a_type), ())
        a[3] = a_zero_point
        b_zero_point = np.zeros(ANY.size, b_type)
        a_scale = np.float32([1.0, -0.5, 0.03][index % 3])
        inputs = a, a_scale, a_zero_point, b, ANY, b_zero_point, np.float32(y_scale), np.array(7, y_type)
        plans.append(small.plan_qlinear_matmul(*inputs))
        wanted.append(onnxruntime_result("QLinearMatMul", y_type, inputs))
    assert max(len(plan.jobs) for plan in plans) == 4  # a job for each sign, finite or not
    for result, expected in zip(small.run(plans), wanted, strict=True):
        np.testing.assert_array_equal(result.y, expected, strict=True)


@pytest.mark.sampled(99)
@pytest.mark.parametrize("types", MIXES, ids="-".join)
def test_of_the_extreme_sums_equal_onnxruntime(types):
    """Sums come in by the bias of QGemm: -2^31, which has no opposite, and both sides of ties, at each scale."""
    a_type, b_type, y_type = types
    hardware = engine()
    sums = np.int32([-(2**31), 1 - 2**31, -(2**24) - 1, -7, -6, -2, -1, 0, 1, 2, 6, 7, 2**24 + 1, 2**31 - 1])
    scales = np.concatenate([ANY, np.float32([-(2.0**-31), -(2.0**-24), -1.5, -256, -1e30])])
    zero = np.zeros((), a_type)
    a, b, one = np.zeros((len(sums), 1), a_type), np.zeros((1, len(scales)), b_type), np.float32(1)
    bias = np.repeat(sums[:, np.newaxis], len(scales), axis=1)
    head = a, one, zero, b, scales, np.zeros(len(scales), b_type)
    tail = one, np.array(3, y_type)
    expected = onnxruntime_result("QGemm", y_type, (*head, bias, *tail), domain="com.microsoft")
    np.testing.assert_array_equal(hardware.qlinear_matmul(*head, *tail, bias=bias), expected, strict=True)


def test_of_rows_and_columns_multiply():
    """Negative scales of rows and of columns: jobs by rows, or transposed ones."""
    hardware = engine()
    rng = np.random.default_rng(9)
    a, b = values(rng, np.uint8, (5, 7)), values(rng, np.int8, (7, 6))
    zero_points = values(rng, np.uint8, 5), values(rng, np.int8, 6)
    few, many = np.float32([0.1, -0.1, 0.1, np.nan, -0.1]), rng.uniform(-0.1, 0.1, 6).astype(np.float32)
    for a_scale, b_scale in ((few, many), (few, np.float32(-0.3)), (many[:5], few[[0, 1, 1, 4, 3, 0]])):
        inputs = a, a_scale, zero_points[0], b, b_scale, zero_points[1], np.float32(-2), np.uint8(9)
        np.testing.assert_array_equal(hardware.qlinear_matmul(*inputs), qlinear_matmul(*inputs), strict=True)
