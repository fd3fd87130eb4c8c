"""Exact products where float64 holds each but not their sum, and all operands have one sign."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden.accumulate import exact_matmul


@pytest.mark.parametrize(("a_sign", "b_sign"), [(1, 1), (-1, 1), (1, -1), (-1, -1)])
def test_sums_beyond_float64_are_exact(a_sign, b_sign):
    rng = np.random.default_rng(0)
    a = a_sign * (2**26 - 2 * rng.integers(0, 100, (3, 64)) - 1)
    b = b_sign * (2**26 - 2 * rng.integers(0, 100, (64, 2)) - 1)
    expected = [[sum(int(x) * int(y) for x, y in zip(row, column, strict=True)) for column in b.T] for row in a]
    assert any(each != int(float(each)) for row in expected for each in row)
    assert exact_matmul(a, b).tolist() == expected
