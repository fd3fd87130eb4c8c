"""Rising scales: which columns share a job, and that the results are the formula's for every int32 and scale."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import INT8, UINT8, requantize_float32
from systoliq.hw.engine.host.canonical_scales import canonical_scales


def test_ordinary_scales_are_one_job():
    (whole,) = canonical_scales(np.float32([0.1, 0.0, 2.0]), -5, INT8)
    assert (whole.zero_point, whole.complemented, whole.columns.tolist()) == (-5, False, [0, 1, 2])
    (turned,) = canonical_scales(np.float32([-0.1, -2.0]), -5, INT8)
    assert (turned.zero_point, turned.complemented, turned.scale.min() > 0) == (4, True, True)


@pytest.mark.parametrize("output", [INT8, UINT8], ids=str)
def test_results_are_the_formula_s(output):
    """Each column of random and odd scales by its own constants, against the formula, which takes any scale."""
    rng = np.random.default_rng(0)
    odd = [np.nan, np.inf, -np.inf, 0, -0.0, -1e-45, -3e38, -0.5, -(2.0**-31)]
    scale = np.float32([*odd, *rng.uniform(-1, 1, 50) * 2.0 ** rng.uniform(-30, 3, 50)])
    acc = np.concatenate([rng.integers(-(2**31), 2**31, 500) >> rng.integers(0, 31, 500), [-(2**31), 0, 1, 2**31 - 1]])
    zero_point = int(rng.integers(output.min, output.max + 1))
    found = np.zeros((len(acc), scale.size), output.dtype)
    for some in canonical_scales(scale, zero_point, output):
        assert ((some.scale >= 0) & np.isfinite(some.scale)).all()
        y = requantize_float32(acc[:, np.newaxis], some.scale, some.zero_point, output)
        found[:, some.columns] = ~y if some.complemented else y
    np.testing.assert_array_equal(found, requantize_float32(acc[:, np.newaxis], scale, zero_point, output))
