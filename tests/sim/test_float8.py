"""float8 in RTL: arrays and dense layers of every pair of formats give golden's bits, stalled and reset.

All of it: `pytest tests/sim/test_float8.py`; without the runs of more than a million outputs: `-m "not slow"`.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from systoliq.golden import E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ, FLOAT8, MatMulLayer, sum_bits
from systoliq.golden.float8_requantization import Float8Requantization
from systoliq.hw import ArrayConfig, BareArray, Dense
from systoliq.sim.cosimulation import Run, cosimulate, cosimulate_array

from ..support.simulators import icarus_first

PAIRS = list(itertools.product(FLOAT8, FLOAT8))
FEW = [(E4M3FN, E5M2), (E5M2, E5M2FNUZ), (E4M3FNUZ, E4M3FN)]


def some(pairs):
    """All of `pairs`; those that are not in `FEW` are slow."""
    return [
        pytest.param(*pair, marks=[] if pair in FEW else pytest.mark.slow, id="-".join(map(str, pair)))
        for pair in pairs
    ]


def codes(form, shape, rng, odd):
    """Numbers of all exponents, and with the probability `odd` what is no number."""
    every = np.arange(256, dtype=np.uint8)
    decoded = form.decode(every)
    number = ~decoded.nan & (decoded.infinity == 0)
    return np.where(rng.random(shape) < odd, rng.choice(every[~number], shape), rng.choice(every[number], shape))


def dense_of(a, b, y, *, k=7, n=5, odd=0.0, **fields):
    """A layer whose outputs spread over the codes of `y`."""
    rng = np.random.default_rng(k)
    weights = codes(b, (k, n), rng, odd)
    if odd:  # infinities alone: a weight that is NaN hides all else of its column
        weights[b.decode(weights).nan] = b.infinity_code
    typical = float(a.max_units * b.max_units) * 2.0 ** (a.unit + b.unit) / 256 / (y.max_units * 2.0**y.unit)
    layer = MatMulLayer(
        b=weights, a_scale=0.5, a_zero_point=0, b_scale=2.0 ** rng.uniform(-3, 3, n).astype(np.float32),
        b_zero_point=0, y_scale=typical, y_zero_point=0, a_format=a, b_format=b, y_format=y,
    )  # fmt: skip
    config = ArrayConfig(**{"rows": 2, "cols": 4, **fields})
    return Dense(layer, Float8Requantization.from_scales(layer.scale, y), config)


def rows(dense, m, seed=0, odd=0.01):
    return codes(dense.config.a, (m, dense.layer.k), np.random.default_rng(seed), odd)


def check(result, dense, a):
    """The codes are those of the operator, not of the constants alone; and not all the same."""
    result.check()
    np.testing.assert_array_equal(result.y.view(np.uint8), dense.layer.golden(a).view(np.uint8))
    assert len(np.unique(result.y)) > 8


@pytest.mark.sampled(98)
@pytest.mark.simulator
@pytest.mark.parametrize(("a", "b"), some(PAIRS))
def test_layer_of_every_pair_of_formats(a, b):
    y = FLOAT8[(FLOAT8.index(a) + FLOAT8.index(b)) % 4]
    dense = dense_of(a, b, y, depth=2)
    operands = rows(dense, 40)
    check(cosimulate(dense, Run(a=operands, stalls=(0.3, 0.3), bulk=True), simulator="icarus"), dense, operands)


@icarus_first
def test_layer_with_infinite_weights_pauses_and_a_reset(simulator):
    dense = dense_of(E5M2, E5M2, E5M2, k=5, n=4, odd=0.1, depth=2, rows=3, cells="ecp5")
    operands = rows(dense, 24, odd=0.02)
    check(cosimulate(dense, Run(a=operands, stalls=(0.4, 0.3), resets=2), simulator=simulator), dense, operands)


@pytest.mark.simulator
@pytest.mark.parametrize(("a", "b"), some(PAIRS)[1::5])
def test_array_with_nan_and_infinities(a, b):
    rng = np.random.default_rng(1)
    array = BareArray(ArrayConfig(rows=2, cols=3, depth=2, a=a, b=b, accumulator_bits=sum_bits(a, b, 9)))
    run, weights = Run(a=codes(a, (12, 9), rng, 0.03), stalls=0.4), codes(b, (9, 12), rng, 0.03)
    cosimulate_array(array, run, weights, simulator="icarus").check()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("a", "b", "simulator"),
    [*((*pair, "verilator") for pair in PAIRS), *((*pair, "icarus") for pair in FEW)],
    indirect=["simulator"],
    ids=str,
)
def test_every_product(a, b, simulator):
    cols = 16 if simulator == "verilator" else 1  # Icarus takes its time for every multiplier in every cycle
    array = BareArray(ArrayConfig(rows=16, cols=cols, a=a, b=b, accumulator_bits=sum_bits(a, b, 1)))
    every = np.arange(256, dtype=np.uint8)
    cosimulate_array(array, Run(a=every[:, np.newaxis], stalls=0.2), every[np.newaxis], simulator=simulator).check()


@pytest.mark.slow
@pytest.mark.parametrize("y", FLOAT8, ids=str)
def test_more_than_a_million_outputs(y, simulator):
    """A tenth of them under Icarus."""
    a, b = PAIRS[5 * FLOAT8.index(y) % 16]
    if simulator == "verilator":
        dense = dense_of(a, b, y, k=33, n=96, rows=4, cols=32, depth=3)
        operands = rows(dense, 11_000, odd=0.001)
    else:
        dense = dense_of(a, b, y, k=3, n=32, rows=1, cols=8, depth=1)
        operands = rows(dense, 3_300, odd=0.001)
    check(cosimulate(dense, Run(a=operands, stalls=(0.1, 0.1)), simulator=simulator), dense, operands)
