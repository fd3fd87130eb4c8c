"""Float8 engines: QLinearMatMul of float8 through their Verilog, bit for bit, in as many cycles as the model says."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from configurations import golden, text
from engines import engine
from float8_operations import ANY_SCALE, codes, random_float8_job, random_float8_operation, typical
from uninitialized import SHAPES, Uninitialized

from systoliq.golden import E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ, combined_scale, qlinear_matmul, sum_bits
from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.host import Float8Job
from systoliq.sim.engine import Engine

from ..golden import float8_oracle as oracle
from ..support.simulators import icarus_first

SIZES = {"a_words": 32, "b_words": 64, "max_columns": 32}
CONFIGS = {
    "e4m3fn-e5m2": EngineConfig(rows=3, cols=4, depth=3, lanes=2, a=E4M3FN, b=E5M2, y=E4M3FN, **SIZES),
    "e5m2": EngineConfig(rows=2, cols=3, depth=2, lanes=3, a=E5M2, b=E5M2, y=E5M2FNUZ, **SIZES),
    "e4m3fnuz": EngineConfig(rows=1, cols=5, lanes=1, a=E4M3FNUZ, b=E4M3FNUZ, y=E5M2, **SIZES),
    "e5m2fnuz-e4m3fn": EngineConfig(rows=4, cols=2, lanes=2, a=E5M2FNUZ, b=E4M3FN, y=E4M3FNUZ, **SIZES),
}
MIXED, INFINITE = CONFIGS["e4m3fn-e5m2"], CONFIGS["e5m2"]


def zeros(config):
    return [np.zeros((), form.dtype) for form in config.float8]


def golden_or_error(inputs):
    try:
        return qlinear_matmul(*inputs)
    except ValueError as error:  # the scales underflow
        return str(error)


@pytest.mark.sampled(99)
@pytest.mark.parametrize("name", CONFIGS)
@icarus_first
def test_random_operations(simulator, name):
    """Batches, vectors, scales of all kinds per row and per column; every second operation with stalls."""
    config, rng = CONFIGS[name], np.random.default_rng(3)
    hardware = engine(config, simulator)
    operations = []
    while len(operations) < 10:
        inputs = random_float8_operation(config, rng, 13)
        expected = golden_or_error(inputs)
        if isinstance(expected, str):
            with pytest.raises(ValueError, match=re.escape(expected)):
                hardware.plan_qlinear_matmul(*inputs)
            continue
        operations.append((inputs, expected, (0.0, 0.0, 0.0) if len(operations) % 2 else tuple(rng.uniform(0, 0.5, 3))))
    plans = [hardware.plan_qlinear_matmul(*inputs) for inputs, _, _ in operations]
    results = hardware.run(plans, stalls=[stalls for _, _, stalls in operations])
    for (_, expected, stalls), result in zip(operations, results, strict=True):
        assert result.y.dtype == expected.dtype
        np.testing.assert_array_equal(result.y.view(np.uint8), expected.view(np.uint8))
        for report in result.reports:
            assert report.cycles >= report.model_cycles
            assert any(stalls) or (report.cycles == report.model_cycles and not report.output_stalls)
    seen = np.unique(np.concatenate([expected.view(np.uint8).reshape(-1) for _, expected, _ in operations]))
    assert len(seen) > 60
    assert {config.y.nan_code, config.y.max_code, 0} <= set(seen.tolist())


@pytest.mark.slow  # golden is compared with rationals in tests/golden
@pytest.mark.parametrize("name", ["e4m3fn-e5m2", "e5m2"])
def test_equals_rationals(name):
    """Python's integers and what ml_dtypes says of codes: nothing of systoliq's golden."""
    config, rng = CONFIGS[name], np.random.default_rng(8)
    hardware, (a_type, b_type, y_type) = engine(config, "icarus"), [oracle.dtype(form.name) for form in config.float8]
    a = codes(config.a, (9, 7), rng).view(np.uint8).view(a_type)
    b = codes(config.b, (7, 22), rng).view(np.uint8).view(b_type)
    a[4] = 0  # sums of 0
    b_scale = np.concatenate([ANY_SCALE, typical(*config.float8) * 2.0 ** rng.uniform(-8, 8, 11)]).astype(np.float32)
    a_scale = np.where(np.arange(9) % 2, np.float32(1), np.float32(-0.75))
    points = [np.zeros((), each) for each in (a_type, b_type, y_type)]
    y = hardware.qlinear_matmul(a, a_scale, points[0], b, b_scale, points[1], np.float32(0.5), points[2])
    assert y.dtype == y_type
    output, scale = oracle.Output(y_type.name), combined_scale(a_scale[:, np.newaxis], b_scale, 0.5)
    sums = oracle.sums(a, 0, b, 0)
    expected = [[output.round(oracle.times(sums[m, n], 40, float(scale[m, n]))) for n in range(22)] for m in range(9)]
    np.testing.assert_array_equal(y.view(np.uint8), expected)


@icarus_first
def test_padding_of_k_is_no_operand(simulator):
    """Words have anything beyond K, NaN and infinities too: one operand beside a column of infinities stays one."""
    infinity = np.uint8(E5M2.infinity_code)
    jobs = [
        Float8Job(a=np.full((3, k), 0x3C, np.uint8), b=np.full((k, 4), infinity), scale=np.ones(4, np.float32))
        for k in (1, 3, 5)
    ]
    for stalls in ((0.0, 0.0, 0.0), (0.4, 0.4, 0.2)):
        for y, _ in engine(INFINITE, simulator).run_jobs(jobs, [stalls] * len(jobs), seed=2):
            np.testing.assert_array_equal(y, np.full((3, 4), E5M2FNUZ.max_code))


@pytest.mark.slow  # the elements: tests/hw/mac/test_float8.py
def test_sums_of_65535_products():
    """The most products of the greatest numbers, whose sum needs every bit of an accumulator; and one a little less."""
    config = EngineConfig(rows=1, cols=1, lanes=1, depth=16, a=E5M2FNUZ, b=E5M2FNUZ, y=E5M2, a_words=4, b_words=4)
    hardware, k = engine(config), 65535
    assert config.array.accumulator_bits == sum_bits(E5M2FNUZ, E5M2FNUZ, k) == 83
    greatest = np.full((k, 1), E5M2FNUZ.max_code, np.uint8)
    less = greatest.copy()
    less[-1] = 0x81  # minus the least number
    exact = k * E5M2FNUZ.max_units**2
    for b, sign in ((greatest, 1), (greatest | 0x80, -1), (less, 1)):
        scale = np.float32(2.0**40 / exact * 2.0 ** (-2 * E5M2FNUZ.unit) * 2.0**-38)  # about 4
        inputs = (np.full((1, k), E5M2FNUZ.max_code, np.uint8), b)
        operands = [each.view(form.dtype) for each, form in zip(inputs, config.float8, strict=False)]
        points = zeros(config)
        arguments = operands[0], scale, points[0], operands[1], np.float32(1), points[1], np.float32(1), points[2]
        y = hardware.qlinear_matmul(*arguments)
        assert y.view(np.uint8).item() == qlinear_matmul(*arguments).view(np.uint8).item()
        assert E5M2.encode(np.float32([[4 * sign]])).item() == y.view(np.uint8).item()
        assert hardware.reports[0].cycles == hardware.reports[0].model_cycles


@pytest.mark.slow  # test_no_initial_values.py has an engine
@pytest.mark.parametrize("name", ["e4m3fn-e5m2", "e4m3fnuz"])
@icarus_first
def test_without_initial_values(simulator, name):
    config, rng = CONFIGS[name], np.random.default_rng(3)
    jobs = [random_float8_job(config, rng, *shape) for shape in SHAPES]
    stalls = [(0.0, 0.0, 0.0) if index % 2 else (0.3, 0.2, 0.4) for index in range(len(jobs))]
    results = Uninitialized(config, simulator=simulator).run_jobs(jobs, stalls)
    for job, each, (y, report) in zip(jobs, stalls, results, strict=True):
        np.testing.assert_array_equal(y, golden(job), err_msg=text(job))
        assert any(each) or report.cycles == report.model_cycles, text(job)


@pytest.mark.slow
def test_rows_and_columns_with_scales_of_their_own():
    """Jobs by rows; by columns where these are fewer, transposed, if a and b have one format."""
    rng = np.random.default_rng(1)
    for config, turned in ((MIXED, False), (INFINITE, True)):
        hardware, points = engine(config, "icarus"), zeros(config)
        a, b = codes(config.a, (6, 5), rng), codes(config.b, (5, 7), rng)
        a_scale = rng.uniform(-1, 1, 6).astype(np.float32)
        plan = hardware.plan_qlinear_matmul(
            a, a_scale, points[0], b, np.float32(2), points[1], np.float32(1), points[2]
        )
        assert [placed.transposed for placed in plan.placed] == ([True] if turned else [False] * 6)
        expected = qlinear_matmul(a, a_scale, points[0], b, np.float32(2), points[1], np.float32(1), points[2])
        (result,) = hardware.run([plan])
        np.testing.assert_array_equal(result.y.view(np.uint8), expected.view(np.uint8))


@pytest.mark.slow
@icarus_first
def test_one_row_whose_columns_all_have_lanes(simulator):
    """On iCE40, operands are broadcast; the sums of one row are then the outputs of the array until the next tile."""
    config = EngineConfig(rows=1, cols=4, lanes=4, cells="ice40", a=E4M3FN, b=E4M3FN, y=E4M3FN, **SIZES)
    rng, zero, one = np.random.default_rng(1), np.zeros((), E4M3FN.dtype), np.float32(1)
    a, b = codes(E4M3FN, (5, 2), rng, odd=0), codes(E4M3FN, (2, 12), rng, odd=0)
    inputs = (a, one, zero, b, one, zero, one, zero)
    hardware = engine(config, simulator)
    y = hardware.qlinear_matmul(*inputs)
    np.testing.assert_array_equal(y.view(np.uint8), qlinear_matmul(*inputs).view(np.uint8))
    assert all(report.cycles == report.model_cycles for report in hardware.reports)


def test_ends_of_shapes():
    hardware, points = engine(MIXED, "icarus"), zeros(MIXED)
    for m, k, n in ((0, 3, 2), (2, 0, 3), (2, 3, 0), (0, 0, 0), (0, 65536, 1)):
        a, b = np.zeros((m, k), E4M3FN.dtype), np.zeros((k, n), E5M2.dtype)
        for scale in np.float32([1, np.inf]):
            inputs = a, scale, points[0], b, np.float32(1), points[1], np.float32(1), points[2]
            y, expected = hardware.qlinear_matmul(*inputs), qlinear_matmul(*inputs)
            assert (y.dtype, y.shape) == (expected.dtype, expected.shape)
            np.testing.assert_array_equal(y.view(np.uint8), expected.view(np.uint8))
    assert hardware.reports == ()


INPUTS = {
    "a": np.zeros((2, 3), E4M3FN.dtype), "a_scale": np.float32(1), "a_zero_point": np.zeros((), E4M3FN.dtype),
    "b": np.zeros((3, 4), E5M2.dtype), "b_scale": np.float32(1), "b_zero_point": np.zeros((), E5M2.dtype),
    "y_scale": np.float32(1), "y_zero_point": np.zeros((), E4M3FN.dtype),
}  # fmt: skip
LONG = {"a": np.zeros((1, 65536), E4M3FN.dtype), "b": np.zeros((65536, 1), E5M2.dtype)}
REFUSED = {
    "integers": ({"a": np.zeros((2, 3), np.int8)}, TypeError, "a must be float8_e4m3fn on this engine, not int8"),
    "bytes": ({"b": np.zeros((3, 4), np.uint8)}, TypeError, "b must be float8_e5m2 on this engine, not uint8"),
    "another format": (
        {"a": np.zeros((2, 3), ml_dtypes.float8_e5m2)},
        TypeError,
        "a must be float8_e4m3fn on this engine, not float8_e5m2",
    ),
    "integer results": (
        {"y_zero_point": np.uint8(0)},
        TypeError,
        "y_zero_point must be float8_e4m3fn on this engine, not uint8",
    ),
    "type of a zero point": ({"a_zero_point": np.int8(0)}, TypeError, "a_zero_point must be float8_e4m3fn as a is"),
    "zero point": ({"b_zero_point": np.array(1, np.uint8).view(E5M2.dtype)}, ValueError, "b_zero_point must be 0"),
    "K": (LONG, ValueError, "K must be at most 65535 on an engine of float8, whose results are rounded"),
    "underflow": (
        {"a_scale": np.float32(1e-30), "b_scale": np.float32(1e-30)},
        ValueError,
        "a_scale * b_scale / y_scale must not underflow to 0",
    ),
    "scales along K": ({"a_scale": np.ones(3, np.float32)}, ValueError, "a_scale must be a scalar or [2] or [2, 1]"),
    "shapes": ({"a": np.zeros((2, 4), E4M3FN.dtype)}, ValueError, "must have the same K, not 4 and 3"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_it_cannot_compute_is_refused(case):
    changes, error, message = REFUSED[case]
    with pytest.raises(error, match=re.escape(message)):
        Engine(MIXED).plan_qlinear_matmul(*(INPUTS | changes).values())


def test_what_integers_have_is_refused():
    hardware = Engine(MIXED)
    with pytest.raises(TypeError, match="bias must be None on an engine of float8, not ndarray"):
        hardware.qlinear_matmul(*INPUTS.values(), bias=np.zeros(4, np.int32))
    with pytest.raises(TypeError, match="matmul_integer must run on an engine of integers, not on one of float8_e4m3"):
        hardware.matmul_integer(np.zeros((2, 3), np.int8), np.zeros((3, 4), np.int8))
    job = Float8Job(a=np.zeros((1, 1), np.uint8), b=np.zeros((1, 1), np.uint8), scale=np.ones(1, np.float32))
    with pytest.raises(TypeError, match="job must be a Job on this engine, not a Float8Job"):
        Engine().run_jobs([job])
    with pytest.raises(ValueError, match=r"scale must be positive and finite, not -1\.0"):
        hardware.run_jobs([Float8Job(a=job.a, b=job.b, scale=-job.scale)])
