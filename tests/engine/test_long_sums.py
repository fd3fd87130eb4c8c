"""K beyond the 65535 of the register: the driver cuts it, and int32 sums of the parts are added, modulo 2^32."""

from __future__ import annotations

import numpy as np
import pytest
from engines import engine
from operations import values

from systoliq.golden import qlinear_matmul


def integers(a, b, a_zero_point, b_zero_point):
    """The sums by Python's integers, wrapped to int32."""
    centred = (
        a.astype(object) - a_zero_point.reshape(-1, 1).astype(object),
        b.astype(object) - b_zero_point.astype(object),
    )
    sums = centred[0] @ centred[1]
    return ((sums + 2**31) % 2**32 - 2**31).astype(np.int32)


@pytest.mark.sampled(99)
@pytest.mark.parametrize("k", [65536, 65535, 131071])
def test_sums(k):
    """Random operands, and the greatest ones, whose sums wrap; a zero point for each row and column."""
    hardware = engine()
    rng = np.random.default_rng(k)
    a, b = values(rng, np.uint8, (3, k)), values(rng, np.int8, (k, 3))
    a[1], b[:, 1] = 255, -128
    zero_points = np.uint8([3, 0, 200]), np.int8([0, 127, -5])
    plan = hardware.plan_matmul_integer(a, b, *zero_points)
    assert max(job.k for job in plan.jobs) == 65535
    (result,) = hardware.run([plan])
    np.testing.assert_array_equal(result.y, integers(a, b, *zero_points), strict=True)


def test_rescaled_results_take_two_steps():
    """Sums of all of K but its last element, then that one with the sums as bias; reports are of both steps."""
    hardware = engine()
    rng = np.random.default_rng(1)
    k, one = 65535 + 40, np.float32(1)
    a, b = values(rng, np.int8, (1, 3, k)), values(rng, np.uint8, (k, 4))
    zero_points = np.int8([[[5], [-7], [0]]]), np.uint8([0, 255, 128, 3])
    b_scale, bias = np.float32([1e-4, -1e-4, 2e-5, np.nan]), np.int32([5, -900000, 2**31 - 1, 0])
    rest = b_scale, zero_points[1], np.float32(3), np.uint8(100)
    long = hardware.plan_qlinear_matmul(a, one, zero_points[0], b, *rest)
    short = hardware.plan_qlinear_matmul(a[..., :9], one, zero_points[0], b[:9], *rest)
    vector = hardware.plan_qlinear_matmul(
        a[0, 0], one, np.int8(5), b[:, 0], one, np.uint8(0), one, np.int8(1), bias=bias[1]
    )
    results = hardware.run([long, short, vector], stalls=[(0, 0, 0), (0.2, 0, 0.1), (0, 0, 0)])
    np.testing.assert_array_equal(results[0].y, qlinear_matmul(a, one, zero_points[0], b, *rest), strict=True)
    np.testing.assert_array_equal(results[1].y, qlinear_matmul(a[..., :9], one, zero_points[0], b[:9], *rest))
    assert len(results[0].reports) > len(long.jobs)
    total = int((a[0, 0].astype(object) - 5) @ b[:, 0].astype(object)) + int(bias[1])
    assert results[2].y.shape == ()
    assert results[2].y == min(max(total + 1, -128), 127)
