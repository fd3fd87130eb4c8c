"""int32 sums in RTL: MatMulInteger's results, stalled and reset, exact, wrapped and sign-extended."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import INT32, IntFormat, MatMulLayer, Unscaled, matmul_integer
from systoliq.hw import ArrayConfig, Dense
from systoliq.sim.cosimulation import Run, cosimulate

from ..support.simulators import icarus_first

RNG = np.random.default_rng(5)
B = RNG.integers(-100, 101, (7, 5)).astype(np.int8)
ZERO_POINTS = {
    "scalar": np.int8(3),
    "per column, with row sums": np.array([-128, 127, 5, 0, -1], np.int8),
}


def dense_of(layer, **fields):
    return Dense(layer, Unscaled(), ArrayConfig(**{"rows": 2, "cols": 4, "depth": 2, **fields}))


@pytest.mark.sampled(99)
@pytest.mark.parametrize("zero_point", ZERO_POINTS.values(), ids=ZERO_POINTS)
@icarus_first
def test_sums_are_matmul_integer(zero_point, simulator):
    layer = MatMulLayer(b=B, a_zero_point=np.uint8(99), b_zero_point=zero_point)
    dense = dense_of(layer)
    assert dense.folding.needs_row_sums == bool(zero_point.ndim)
    assert dense.sum_bits < INT32.bits == dense.requantization.output.bits
    a = RNG.integers(0, 256, (60, 7)).astype(np.uint8)
    result = cosimulate(dense, Run(a=a, stalls=(0.4, 0.3), resets=2), simulator=simulator).check()
    np.testing.assert_array_equal(result.y, matmul_integer(a, B, np.uint8(99), zero_point), strict=True)


@pytest.mark.sampled(99)
@pytest.mark.simulator
@pytest.mark.parametrize(("rows", "cols", "cells"), [(1, 5, "portable"), (3, 2, "ecp5")])
def test_cycles_are_the_models(rows, cols, cells):
    dense = dense_of(
        MatMulLayer(b=B, a_zero_point=np.uint8(0), b_zero_point=np.int8(0)), rows=rows, cols=cols, cells=cells
    )
    a = RNG.integers(0, 256, (9, 7)).astype(np.uint8)
    assert cosimulate(dense, Run(a=a), simulator="icarus").check().cycles == dense.cycles(9)


@pytest.mark.simulator
def test_sums_beyond_int32_wrap():
    wide = IntFormat(16, signed=True)
    b = np.array([[-32768, 32767], [-32768, 5], [-32768, 32767]], np.int16)
    layer = MatMulLayer(b=b, a_zero_point=np.int16(0), b_zero_point=np.int16(0))
    dense = dense_of(layer, depth=1, b=wide)
    assert (dense.sum_bits, int(layer.accumulator_range()[1].max()) > INT32.max) == (32, True)
    a = np.array([[-32768] * 3, [32767] * 3, [1, 2, 3]], np.int16)
    result = cosimulate(dense, Run(a=a), simulator="icarus").check()
    wrapped = (a.astype(object) @ b.astype(object) + (1 << 31)) % (1 << 32) - (1 << 31)
    np.testing.assert_array_equal(result.y, wrapped.astype(np.int32))
