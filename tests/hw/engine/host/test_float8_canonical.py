"""Rising scales of float8: codes of B and positive scales that give golden's results for every float32 scale."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from systoliq.golden import FLOAT8, qlinear_matmul
from systoliq.hw.engine.host.float8_canonical import float8_canonical

ODD = np.float32([np.nan, np.inf, -np.inf, 0, -0.0, -0.5, -1e-45, 1e-45, 3e38, -3e38, -(2.0**-126), 2.0, -7.0])


def product(a, b, scale, a_format, b_format, y_format):
    one, zeros = np.float32(1), [np.zeros((), form.dtype) for form in (a_format, b_format, y_format)]
    inputs = a.view(a_format.dtype), one, zeros[0], b.view(b_format.dtype), scale, zeros[1], one, zeros[2]
    return qlinear_matmul(*inputs).view(np.uint8)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("a_format", "b_format"), [*itertools.product(FLOAT8, FLOAT8)], ids=str)
def test_results_are_golden_s(a_format, b_format):
    """Every code of b meets every code of a, alone and in sums, at odd scales."""
    rng = np.random.default_rng(1)
    every = np.arange(256, dtype=np.uint8)
    for y_format in FLOAT8:
        for a, b in (
            (every[:, np.newaxis], np.repeat(every, 3)[np.newaxis]),
            (rng.integers(0, 256, (64, 3), np.uint8), rng.integers(0, 256, (3, 200), np.uint8)),
        ):
            scale = rng.choice(ODD, b.shape[1])
            turned = float8_canonical(b, b_format, scale, y_format)
            assert ((turned.scale > 0) & np.isfinite(turned.scale)).all()
            y = product(a, turned.b, turned.scale, a_format, b_format, y_format)
            y = np.where(y == 0, turned.zeros, y)
            np.testing.assert_array_equal(y, product(a, b, scale, a_format, b_format, y_format))


def test_ordinary_scales_stay():
    b = np.arange(256, dtype=np.uint8).reshape(2, 128)
    scale = np.linspace(0.1, 5, 128, dtype=np.float32)
    same = float8_canonical(b, FLOAT8[0], scale, FLOAT8[0])
    np.testing.assert_array_equal(same.b, b)
    np.testing.assert_array_equal(same.scale, scale)
    assert same.zeros is None
