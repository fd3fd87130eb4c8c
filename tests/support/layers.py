"""A little layer, and layers' testbenches of few rows and resets: both take a second under Icarus."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import numpy as np

from systoliq.golden import MatMulLayer
from systoliq.testbench.layer import stimulus, testbench

__all__ = ["little_layer", "short_testbenches"]


@contextmanager
def short_testbenches() -> Iterator[None]:
    """Packages of layers have testbenches with a tenth of the steered rows, whose search takes longer than all else in
    the package of a small layer, and with few resets.
    """
    with mock.patch.object(stimulus, "_STEERED_BEATS", 1_600), mock.patch.object(testbench, "_BUDGET", 6_000):
        yield


def little_layer(k: int = 6, n: int = 2) -> MatMulLayer:
    """Random weights [k, n], a scale for each column, zero points of A and Y."""
    rng = np.random.default_rng(k * n)
    return MatMulLayer(
        name="little",
        b=rng.integers(-127, 128, (k, n)).astype(np.int8),
        b_scale=rng.uniform(0.01, 0.02, n).astype(np.float32),
        b_zero_point=np.int8(0),
        a_scale=np.float32(0.1),
        a_zero_point=np.int8(20),
        y_scale=np.float32(0.7),
        y_zero_point=np.int8(-3),
        bias=rng.integers(-1000, 1000, n).astype(np.int32),
    )
