"""The requantizer in Verilog equals the float32 formula: at every step of every scale tried, from both sides.

The expected outputs are numpy's float32 arithmetic (`requantize_float32`), not the integer forms. All of it:
`pytest tests/hw/test_requantizer_exact.py`; without the runs of more than a million outputs: `-m "not slow"`.
"""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden.exact import smallest_exact
from systoliq.golden.formats import INT8, UINT8, IntFormat
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.requantization import Requantization, Rounding
from systoliq.golden.thresholds import float32_steps
from systoliq.hw import ArrayConfig, Dense
from systoliq.sim.cosimulation import Run, cosimulate

from .requantizer_bench import points, run_constant, run_programmable

pytestmark = pytest.mark.simulator

MILLION = 1_000_000
K64 = 64 * 128 * 128  # the largest sum of 64 int8 products

HARD_SCALES = {
    "powers of two": [2.0**e for e in range(-31, 9)],
    "tiny": [1e-11, 2.0**-32, np.nextafter(np.float32(2.0**-32), np.float32(1)), 1e-10, 3e-10, 5e-10],
    "zero and subnormal": [0.0, 1e-45, 1e-40, 2.0**-126],
    "multiplier flushed to zero": [2.0**-33, 1e-20],
    "huge": [255.5, 256.0, 1e6, 1e30, float(np.finfo(np.float32).max)],
    "three tenths": [0.3, 0.1, 0.7, 1 / 3],
    "next to a power of two": [
        float(np.nextafter(np.float32(2.0**e), np.float32(d))) for e in (-8, -1) for d in (0, 1)
    ],
}


def log_uniform(count: int, low: float, high: float, seed: int):
    return (2.0 ** np.random.default_rng(seed).uniform(low, high, count)).astype(np.float32)


@pytest.mark.sampled(99)
@pytest.mark.parametrize("output", [INT8, UINT8, IntFormat(4, signed=True)], ids=lambda fmt: fmt.name)
def test_programmable(output):
    result = run_programmable(log_uniform(200, -32, 4, seed=1), output.min + 3, output).check()
    assert result.checked > 200 * (2**output.bits - 2)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", HARD_SCALES)
@pytest.mark.parametrize("zero_point", [-128, 0, 127])
def test_programmable_at_hard_scales(name, zero_point):
    run_programmable(HARD_SCALES[name], zero_point, INT8).check()


@pytest.mark.slow
def test_programmable_at_a_million_steps():
    checked = sum(
        run_programmable(log_uniform(1800, -40, 4, seed=zero_point + 128), zero_point, output).check().checked
        for output, zero_point in ((INT8, -5), (UINT8, 200))
    )
    assert checked > MILLION


def exact_columns(count: int, rounding: Rounding, seed: int):
    """Constants of `rounding` that are exact for sums of K = 64, and their scales: of those that have some."""
    scales = log_uniform(count, -14, -6, seed)
    fits = smallest_exact(scales, 7, INT8, -K64, K64).fits[rounding]
    kept = [n for n, fit in enumerate(fits) if fit.constants is not None]
    multiplier, shift, offset = zip(*(fits[n].constants for n in kept), strict=True)
    constants = Requantization(
        multiplier=multiplier, shift=shift, offset=offset, zero_point=7, output=INT8, rounding=rounding
    )
    return constants, scales[kept]


@pytest.mark.parametrize("rounding", Rounding, ids=lambda rounding: rounding.value)
def test_constant(rounding):
    """The smallest constants, found for what K = 64 reaches, in the narrowest hardware."""
    constants, scales = exact_columns(30, rounding, seed=2)
    assert len(scales) > 10
    assert run_constant(constants, scales, -K64, K64, accumulator_bits=22).check().checked > 500 * len(scales)


@pytest.mark.slow
def test_constant_at_a_million_steps():
    checked = 0
    for seed, rounding in enumerate((Rounding.NEAR_TIE, Rounding.NEAREST, Rounding.FLOOR)):
        constants, scales = exact_columns(900, rounding, seed)
        half = len(scales) // 2
        for part in (slice(None, half), slice(half, None)):
            some = constants.replace(
                **{name: getattr(constants, name)[part] for name in ("multiplier", "shift", "offset")}
            )
            checked += run_constant(some, scales[part], -K64, K64, accumulator_bits=22).check().checked
    assert checked > MILLION


def steered(scales, bias, zero_point=3):
    """A layer and rows that take each column, alone, to both sides of each of its steps.

    Column n has two rows of B of its own, 127 and 1, and so reaches every sum within 16192 of its bias.
    """
    n = len(scales)
    b = np.zeros((2 * n, n), np.int8)
    b[2 * np.arange(n), np.arange(n)] = 127
    b[2 * np.arange(n) + 1, np.arange(n)] = 1
    layer = MatMulLayer(
        b=b, a_scale=1.0, a_zero_point=np.int8(0), b_scale=np.asarray(scales, np.float32), b_zero_point=np.int8(0),
        y_scale=1.0, y_zero_point=np.int8(zero_point), bias=np.asarray(bias, np.int32),
    )  # fmt: skip
    near = [np.asarray(bias) - 16192, np.asarray(bias) + 16192]
    column, acc = points(layer.scale, zero_point, INT8, *near)
    targets = [np.sort(acc[column == index]) for index in range(n)]
    rows = max(map(len, targets))
    a = np.zeros((rows, 2 * n), np.int8)
    for index, wanted in enumerate(targets):
        wanted = np.resize(wanted, rows) - bias[index]
        a[:, 2 * index] = np.rint(wanted / 127)
        a[:, 2 * index + 1] = wanted - 127 * np.rint(wanted / 127).astype(int)
    reached = [set(layer.accumulate(a)[:, index]) for index in range(n)]
    assert all(set(wanted) <= found for wanted, found in zip(targets, reached, strict=True))
    return layer, a


SPREAD = [0.3, 0.01, 0.5, 0.0078125, 1 / 3, 0.25, 0.02, 0.07]


@pytest.mark.sampled(20)
@pytest.mark.parametrize(
    ("scales", "bias"),
    [
        pytest.param(SPREAD, [0, 100, -3, 999, 0, 1, -1, 12345], id="ordinary"),
        pytest.param([2.0**-e for e in range(8)], [0, 1, 2, 3, 5, -7, 11, -13], id="power-of-two scales"),
        pytest.param([1e-11, 0.03, 2.0**-33, 0.01], [0, 5, 2**30, -9], id="from 1e-11 to 0.03, multipliers of zero"),
        pytest.param([2.5 / 2**30, 31.5 / 2**30, 0.02, 100.5 / 2**30], [2**30, -(2**30), 4, 2**30], id="bias of 2^30"),
    ],
)
@pytest.mark.parametrize("form", ["near-tie", "auto", "nearest", "floor"])
def test_dense_layer(scales, bias, form):
    layer, a = steered(scales, bias)
    low, high = layer.accumulator_range()
    if form == "near-tie":
        constants = Requantization.from_scales(layer.scale, layer.y_zero_point, INT8)
    else:
        try:
            found = smallest_exact(
                layer.scale, layer.y_zero_point, INT8, low, high, "auto" if form == "auto" else Rounding(form)
            )
        except ValueError:
            if form == "auto":
                raise
            return  # proven not to exist: tests/golden/test_exact.py
        constants = found.requantization
    result = cosimulate(Dense(layer, constants, ArrayConfig(rows=2, cols=4, depth=4)), Run(a=a))
    assert not result.violations
    assert np.array_equal(result.y, layer.golden(a))
    steps = float32_steps(layer.scale, layer.y_zero_point, INT8, low, high)
    assert sum(steps.count) > 0
