"""Scales and zero points for each batch, as opset 21 allows: [D1, ..., M, 1] of a, [D1, ..., 1, N] of b."""

from __future__ import annotations

import numpy as np
import pytest
from engines import engine
from operations import values

from systoliq.golden import matmul_integer, requantize_float32
from systoliq.golden.formats import INT8

SHAPES = [((2, 3), (2, 3)), ((2, 1), (1, 3)), ((), (2,)), ((3,), ()), ((1,), (2, 2))]


def each(parameter, batch):
    """What `parameter` has for a batch of the result, by numpy's rule of broadcasting: [M, 1] or [1, N]."""
    own = parameter.shape[:-2]
    return parameter[tuple(0 if size == 1 else i for i, size in zip(batch[len(batch) - len(own) :], own, strict=True))]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_scales_and_zero_points_for_each_batch(shapes):
    """Every batch is a 2-D product of its own, with its own scales: the definition, batch by batch."""
    hardware = engine()
    rng = np.random.default_rng(len(str(shapes)))
    (own_a, own_b), m, k, n = shapes, 3, 5, 6
    a, b = values(rng, np.uint8, (*own_a, m, k)), values(rng, np.int8, (*own_b, k, n))
    a_zp, b_zp = values(rng, np.uint8, (*own_a, m, 1)), values(rng, np.int8, (*own_b, 1, n))
    a_scale = rng.uniform(0.01, 0.05, a_zp.shape).astype(np.float32)
    b_scale = rng.uniform(-0.05, 0.05, b_zp.shape).astype(np.float32)
    inputs = a, a_scale, a_zp, b, b_scale, b_zp, np.float32(0.9), np.int8(-3)
    (y,), (acc,) = ([r.y] for r in hardware.run([
        hardware.plan_qlinear_matmul(*inputs), hardware.plan_matmul_integer(a, b, a_zp, b_zp)]))  # fmt: skip
    for batch in np.ndindex(*np.broadcast_shapes(own_a, own_b)):
        sums = (each(a, batch).astype(np.int64) - each(a_zp, batch)) @ (
            each(b, batch).astype(np.int64) - each(b_zp, batch)
        )
        np.testing.assert_array_equal(acc[batch], sums)
        scale = each(a_scale, batch) * each(b_scale, batch) / np.float32(0.9)
        np.testing.assert_array_equal(y[batch], requantize_float32(sums, scale, -3, INT8))
    np.testing.assert_array_equal(acc, matmul_integer(a, b, a_zp, b_zp))
