"""Zero points that come with A, in RTL: MatMulInteger's sums, another zero point for every row, stalled and reset."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import IntFormat, MatMulLayer, Unscaled, matmul_integer
from systoliq.hw import ArrayConfig, Dense
from systoliq.sim.cosimulation import Run, cosimulate

from ..support.simulators import icarus_first

RNG = np.random.default_rng(11)
B = RNG.integers(-100, 101, (7, 5)).astype(np.int8)
CASES = {
    "scalar": (np.uint8, np.int8(-3)),
    "per column, with row sums": (np.int8, np.array([-128, 127, 5, 0, -1], np.int8)),
}


def dense_of(b, a_type, b_zero_point, **fields):
    layer = MatMulLayer(b=b, b_zero_point=b_zero_point, a_format=IntFormat.of(a_type))
    return Dense(layer, Unscaled(), ArrayConfig(**{"rows": 2, "cols": 4, "depth": 2, **fields}))


def operands(m, k, a_type):
    """Rows with the extremes of A and of zero points among them, each against each."""
    info = np.iinfo(a_type)
    a = RNG.integers(info.min, info.max, (m, k), endpoint=True).astype(a_type)
    zero_points = RNG.integers(info.min, info.max, m, endpoint=True).astype(a_type)
    a[0:2], a[2:4] = info.max, info.min
    zero_points[0:4] = [info.min, info.max] * 2
    return a, zero_points


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("a_type", "b_zero_point"), CASES.values(), ids=CASES)
@icarus_first
def test_every_row_has_its_own(a_type, b_zero_point, simulator):
    dense = dense_of(B, a_type, b_zero_point)
    assert dense.folding.needs_row_sums == bool(b_zero_point.ndim)
    a, zero_points = operands(41, 7, a_type)
    stalled = {"stalls": (0.4, 0.3), "resets": 2, "batches": [1, 5, 35]}
    result = cosimulate(dense, Run(a=a, a_zero_point=zero_points, **stalled), simulator=simulator).check()
    np.testing.assert_array_equal(result.y, matmul_integer(a, B, zero_points, b_zero_point), strict=True)


@pytest.mark.sampled(3)
@pytest.mark.simulator
@pytest.mark.parametrize(
    ("rows", "cols", "depth", "cells"),
    [
        (1, 5, 1, "portable"),
        (3, 2, 1, "ecp5"),
        (2, 5, 3, "ice40"),
        (2, 3, 1, "gowin"),
        (2, 3, 2, "xilinx"),
        (1, 2, 4, "dsp48e2"),
    ],
)
def test_shapes_and_cells_in_the_models_cycles(rows, cols, depth, cells):
    dense = dense_of(B, np.uint8, np.int8(0), rows=rows, cols=cols, depth=depth, cells=cells)
    a, zero_points = operands(10, 7, np.uint8)
    result = cosimulate(dense, Run(a=a, a_zero_point=zero_points), simulator="icarus").check()
    assert result.cycles == dense.cycles(10)
    np.testing.assert_array_equal(result.y, matmul_integer(a, B, zero_points, np.int8(0)), strict=True)


@pytest.mark.slow
@pytest.mark.simulator
def test_one_for_all_rows():
    dense = dense_of(B[:5, :3], np.uint8, np.int8(0), rows=3, cols=3)
    a, _ = operands(7, 5, np.uint8)
    result = cosimulate(dense, Run(a=a, a_zero_point=np.uint8(130)), simulator="icarus").check()
    np.testing.assert_array_equal(result.y, matmul_integer(a, B[:5, :3], np.uint8(130)), strict=True)
