"""Integers beside float8 in RTL: layers of every mix give what exact Python integers do, stalled and reset.

All of it: `pytest tests/sim/test_float8_mixes.py`; without most mixes and the million outputs: `-m "not slow"`.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from systoliq.golden import E4M3FN, E5M2, FLOAT8, INT8, UINT8, MatMulLayer, sum_bits
from systoliq.golden.float8_requantization import Float8Requantization
from systoliq.hw import ArrayConfig, BareArray, Dense
from systoliq.sim.cosimulation import Run, cosimulate, cosimulate_array

from ..golden import float8_oracle as oracle
from ..support.simulators import icarus_first

INTEGERS = {INT8, UINT8}
MIXES = [
    mix for mix in itertools.product((*FLOAT8, INT8, UINT8), repeat=3) if set(mix) & INTEGERS and set(mix) - INTEGERS
]
TYPICAL = {E5M2: 2.0**4, INT8: 2.0**6, UINT8: 2.0**7}


def draw(form, shape, rng, odd=0.0):
    """Integers, or codes of middling numbers, and with the probability `odd` any code."""
    if form not in FLOAT8:
        return rng.integers(form.min, form.max, shape, endpoint=True).astype(form.dtype)
    numbers = form.encode(rng.normal(0, 1, shape) * TYPICAL.get(form, 1.0))
    return np.where(rng.random(shape) < odd, rng.integers(0, 256, shape), numbers).astype(np.uint8)


def dense_of(mix, rng, *, k=7, n=6, odd=0.0, **hardware):
    """A layer of zero points and scales of all kinds, whose outputs spread."""
    a, b, y = mix
    weights = draw(b, (k, n), rng, odd)
    if odd and b is E5M2:
        weights[:, 0] = draw(b, k, rng)
        weights[1, 0] = b.infinity_code
    typical_a, typical_b, typical_y = (TYPICAL.get(form, 1.0) for form in mix)
    layer = MatMulLayer(
        b=weights, a_format=a, b_format=b, y_format=y,
        a_zero_point=0 if a in FLOAT8 else int(rng.integers(a.min, a.max)),
        b_zero_point=0 if b in FLOAT8 else draw(b, n, rng),
        y_zero_point=0 if y in FLOAT8 else int(rng.integers(y.min // 2, y.max // 2)),
        a_scale=np.float32(0.37), b_scale=(2.0 ** rng.uniform(-2, 2, n)).astype(np.float32),
        y_scale=np.float32(typical_a * typical_b / typical_y),
    )  # fmt: skip
    requantization = Float8Requantization.from_scales(layer.scale, y, layer.y_zero_point)
    return Dense(layer, requantization, ArrayConfig(**{"rows": 2, "cols": 3, "depth": 2, **hardware}))


def by_definition(layer, a):
    """Y by exact integers; float8 as codes."""
    b_zero_point = layer.b_zero_point if layer.b_format in (INT8, UINT8) else np.zeros(layer.n)
    typed_a, typed_b = a.view(oracle.dtype(layer.a_format.name)), layer.b.view(oracle.dtype(layer.b_format.name))
    sums = oracle.sums(typed_a, layer.a_zero_point, typed_b, b_zero_point.astype(np.int64))
    output = oracle.Output(layer.y_format.name, layer.y_zero_point)
    return np.array(
        [[output.round(oracle.times(row[n], 40, layer.scale[n].item())) for n in range(layer.n)] for row in sums]
    )


def golden(layer, a):
    """Y as golden has it, which is tested against exact integers by itself; float8 as codes."""
    y = layer.golden(a)
    return y.view(np.uint8) if layer.y_format in FLOAT8 else y


def check(dense, rng, m=24, *, odd=0.03, expected=by_definition, simulator, **run):
    a = draw(dense.layer.a_format, (m, dense.layer.k), rng, odd)
    result = cosimulate(dense, Run(a=a, **run), simulator=simulator)
    result.check()
    y = result.y.view(np.uint8) if dense.layer.y_format in FLOAT8 else result.y
    np.testing.assert_array_equal(y, expected(dense.layer, a))
    assert len(np.unique(y)) > 12


@pytest.mark.simulator
@pytest.mark.sampled(96)
@pytest.mark.parametrize("mix", MIXES, ids=lambda mix: "-".join(map(str, mix)))
def test_layer_of_every_mix(mix):
    rng = np.random.default_rng(MIXES.index(mix))
    check(dense_of(mix, rng, odd=0.02), rng, simulator="icarus", stalls=(0.3, 0.3), bulk=True)


@pytest.mark.slow  # test_float8.py has pauses
@pytest.mark.parametrize("mix", [(UINT8, E5M2, INT8), (E5M2, INT8, E4M3FN)], ids=lambda mix: "-".join(map(str, mix)))
@icarus_first
def test_pauses_and_a_reset(mix, simulator):
    rng = np.random.default_rng(9)
    dense = dense_of(mix, rng, k=5, n=4, odd=0.05, rows=3, cols=2, depth=2, cells="ecp5")
    check(dense, rng, 60, simulator=simulator, stalls=(0.4, 0.3), resets=2)


@pytest.mark.simulator
def test_int32_sums_wrap_before_they_are_rounded():
    """The sum of 40000 greatest products wraps, that of half of them does not."""
    k = 40000
    weights = np.full((k, 2), 255, np.uint8)
    weights[: k // 2, 1] = 0
    layer = MatMulLayer(
        b=weights, a_scale=1.0, b_scale=1.0, y_scale=np.float32(2**15), a_zero_point=np.uint8(0),
        b_zero_point=np.uint8(0), y_zero_point=0, y_format=E5M2,
    )  # fmt: skip
    requantization = Float8Requantization.from_scales(layer.scale, E5M2)
    with pytest.raises(ValueError, match="ask for wrapping"):
        Dense(layer, requantization, ArrayConfig(cols=2, depth=100))
    dense = Dense(layer, requantization, ArrayConfig(cols=2, depth=100), wrap=True)
    a = np.full((1, k), 255, np.uint8)
    result = cosimulate(dense, Run(a=a), simulator="icarus")
    result.check()
    wrapped = [(total + 2**31) % 2**32 - 2**31 for total in (k * 255**2, k // 2 * 255**2)]
    assert wrapped[0] < 0 < wrapped[1]
    expected = [oracle.Output("float8_e5m2").round(oracle.times(each, 0, 2.0**-15)) for each in wrapped]
    assert result.y.view(np.uint8).tolist() == [expected]


@pytest.mark.simulator
@pytest.mark.parametrize(("a", "b"), [(INT8, E5M2), (E4M3FN, UINT8)], ids=str)
def test_bare_array(a, b):
    rng = np.random.default_rng(1)
    array = BareArray(ArrayConfig(rows=2, cols=3, depth=2, a=a, b=b, accumulator_bits=sum_bits(a, b, 9)))
    run, weights = Run(a=draw(a, (12, 9), rng, 0.03), stalls=0.4), draw(b, (9, 12), rng, 0.03)
    cosimulate_array(array, run, weights, simulator="icarus").check()


@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.parametrize("mix", MIXES[5::24], ids=lambda mix: "-".join(map(str, mix)))
def test_more_than_a_million_outputs(mix):
    rng = np.random.default_rng(1)
    dense = dense_of(mix, rng, k=33, n=96, rows=4, cols=32)
    check(dense, rng, 11_000, odd=0.001, expected=golden, simulator="verilator", stalls=(0.1, 0.1))
