"""QLinearMatMul and MatMulInteger through the engine's Verilog: bit-exact, and in as many cycles as the model says."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from engines import CONFIGS, SMALL, engine
from operations import check, onnxruntime_result, random_operation, values

from systoliq.golden import INT8, UINT8, combined_scale, float32_steps, matmul_integer, requantize_float32
from systoliq.hw.engine.host import Job

OFFICIAL = {"MatMulInteger": "plan_matmul_integer", "QLinearMatMul": "plan_qlinear_matmul"}


def test_official(small):
    node = importlib.import_module("onnx.backend.test.case.node")
    for module in ("matmulinteger", "qlinearmatmul"):
        importlib.import_module(f"{node.__name__}.{module}")
    cases = [case for case in node._NodeTestCases if case.model.graph.node[0].op_type in OFFICIAL]
    assert len(cases) == 9
    plans, wanted = [], []
    for case in cases:
        for inputs, (expected,) in case.data_sets:
            plans.append(getattr(small, OFFICIAL[case.model.graph.node[0].op_type])(*inputs))
            wanted.append(expected)
    for case, result, expected in zip(cases, small.run(plans), wanted, strict=True):
        assert result.y.dtype == expected.dtype
        np.testing.assert_array_equal(result.y, expected, err_msg=case.name)


@pytest.mark.sampled(99)
@pytest.mark.parametrize(
    ("name", "count", "most"),
    [
        ("odd", 16, 30),
        pytest.param("large", 120, 100, marks=pytest.mark.slow),
        ("odd", 60, 50),
        ("least", 40, 14),
        ("weights", 40, 50),
    ],
)
def test_random_operations(name, count, most):
    rng = np.random.default_rng(count)
    operations = [random_operation(rng, most) for _ in range(count)]
    results = check(engine(CONFIGS[name]), operations, seed=count)
    assert sum(len(result.reports) for result in results) >= count


def test_random_operations_on_both(small):
    rng = np.random.default_rng(7)
    check(small, [random_operation(rng, 16) for _ in range(8)], seed=7)


def test_ends_of_shapes(small):
    """Empty results, K of 0, and the least of everything."""
    one = np.int8(1)
    for m, k, n in ((0, 3, 2), (2, 0, 3), (2, 3, 0), (0, 0, 0)):
        a, b = np.ones((m, k), np.int8), np.ones((k, n), np.int8)
        np.testing.assert_array_equal(small.matmul_integer(a, b), matmul_integer(a, b))
        y = small.qlinear_matmul(a, np.float32(1), one, b, np.float32(1), one, np.float32(1), np.uint8(77))
        np.testing.assert_array_equal(y, np.full((m, n), 77, np.uint8))
    a, b = np.ones((0, 2, 3), np.int8), np.ones((3, 2), np.int8)
    assert small.matmul_integer(a, b).shape == (0, 2, 2)
    assert small.reports == ()
    assert small.matmul_integer(np.array([5], np.int8), np.array([7], np.uint8), np.int8(-1)) == 42


@pytest.mark.sampled(99)
@pytest.mark.parametrize("y_format", [INT8, UINT8], ids=["int8", "uint8"])
def test_both_sides_of_every_step(y_format):
    """Accumulators come in by the bias, so that those next to a rounding can be chosen."""
    hardware = engine()
    scales = np.float32([0.5, 2.0**-14, 0.0123, 0.00071, 3e-8, 2.0**-31, 250.0, 1e30, 0.0, 1e-30])
    jobs, wanted = [], []
    for scale in scales:
        zero_point = int(y_format.min + 100)
        steps = float32_steps(scale, zero_point, y_format, -(2**31), 2**31 - 1)
        acc = np.array([-(2**31), -1, 0, 1, 2**31 - 1], np.int64)
        acc = np.concatenate([acc, steps.start[:, 0] - 1, steps.start[:, 0]])
        acc = np.unique(np.clip(acc, -(2**31), 2**31 - 1)).astype(np.int32)
        for part in np.array_split(acc, -(-len(acc) // SMALL.max_columns)):
            count = len(part)
            jobs.append(
                Job(
                    a=np.full((1, 1), 9, np.int8),
                    b=np.full((1, count), 100, np.int8),
                    a_zero_point=np.full(1, 9, np.int8),
                    b_zero_point=np.full(count, -3, np.int8),
                    bias=part,
                    scale=np.full(count, scale, np.float32),
                    y_zero_point=zero_point,
                    y_format=y_format,
                )
            )
            wanted.append(requantize_float32(part, scale, zero_point, y_format))
    for (y, _), expected in zip(hardware.run_jobs(jobs), wanted, strict=True):
        np.testing.assert_array_equal(y[0], expected)


def test_greatest_accumulators():
    """K as large as the buffers allow, every product the largest, sums of both signs; and a K that wraps int32."""
    hardware, least, greatest = engine(), np.uint8([0, 255]), np.uint8([255, 0])
    for k in (32, 33100):
        a, b = np.repeat(least[:, np.newaxis], k, axis=1), np.repeat(least[np.newaxis], k, axis=0)
        y = hardware.matmul_integer(a, b, greatest, greatest)
        sums = 255**2 * k * np.array([[1, -1], [-1, 1]])
        np.testing.assert_array_equal(y, (sums + 2**31) % 2**32 - 2**31)
        assert (abs(sums) > 2**31).all() == (k > 32)
        if k == 32:
            assert hardware.reports[0].cycles == hardware.reports[0].model_cycles


def test_equals_onnxruntime():
    """Where onnxruntime has the type mix; signed b keep to 7 bits (it saturates inside without VNNI)."""
    pytest.importorskip("onnxruntime", reason="onnxruntime is the reference here")
    pytest.importorskip("onnx", reason="onnx builds the models")
    hardware = engine(CONFIGS["odd"])
    rng = np.random.default_rng(4)
    plans, wanted = [], []
    for a_type, b_type, y_type in [
        ("int8", "int8", "int8"),
        ("uint8", "int8", "uint8"),
        ("uint8", "uint8", "uint8"),
    ] * 3:
        m, k, n = rng.integers(1, 30, 3)
        a, b = values(rng, np.dtype(a_type), (m, k)), values(rng, np.dtype(b_type), (k, n))
        b = b // 2 if b_type == "int8" else b
        a_zp, y_zp = values(rng, np.dtype(a_type), ()), values(rng, np.dtype(y_type), ())
        b_zp = np.zeros(n, b_type) if b_type == "int8" else np.full(n, 128, b_type)
        b_scale = rng.uniform(0.01, 0.05, n).astype(np.float32)
        y_scale = np.float32(0.03 * 0.03 * 50 * np.sqrt(k))
        inputs = (a, np.float32(0.03), a_zp, b, b_scale, b_zp, y_scale, y_zp)
        plans.append(hardware.plan_qlinear_matmul(*inputs))
        wanted.append(onnxruntime_result("QLinearMatMul", y_type, inputs))
        plans.append(hardware.plan_matmul_integer(a, b, a_zp, b_zp[0]))
        wanted.append(onnxruntime_result("MatMulInteger", "int32", (a, b, a_zp, b_zp[0])))
    for result, expected in zip(hardware.run(plans), wanted, strict=True):
        np.testing.assert_array_equal(result.y, expected)


def test_combined_scale_is_per_row_and_column():
    """Rows with scales of their own become jobs of their own, or a transposed job where b has one scale."""
    hardware = engine()
    rng = np.random.default_rng(3)
    a, b = values(rng, np.int8, (6, 5)), values(rng, np.int8, (5, 7))
    a_scale = rng.uniform(0.01, 0.05, 6).astype(np.float32)
    zero, y_scale = np.int8(0), np.float32(0.5)
    one = hardware.plan_qlinear_matmul(a, a_scale, zero, b, np.float32(0.02), zero, y_scale, zero)
    assert [placed.transposed for placed in one.placed] == [True]
    b_scale = rng.uniform(0.01, 0.05, 7).astype(np.float32)
    six = hardware.plan_qlinear_matmul(a, a_scale, zero, b, b_scale, zero, y_scale, zero)
    assert len(six.jobs) == 6
    scale = combined_scale(a_scale[:, np.newaxis], b_scale, y_scale)
    result = hardware.run([six])[0]
    np.testing.assert_array_equal(result.y, requantize_float32(matmul_integer(a, b), scale, 0, INT8))
