"""Jobs of sums near ties, in exact rationals: what they hold, and that float32 and exact rounding part ways in them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from systoliq.build.design.engine.near_ties import COLUMNS, near_tie_job
from systoliq.golden.formats import INT32

HALF = Fraction(1, 2)


def column_sums(job) -> list[int]:
    """Of row 0, in Python's integers."""
    a = int(job.a[0, 0]) - int(job.a_zero_point[0])
    return [a * (int(b) - int(z)) + int(bias) for b, z, bias in zip(job.b[0], job.b_zero_point, job.bias, strict=True)]


def test_sums_are_near_ties_and_results_those_of_float32():
    """Over 4 jobs: 384 sums."""
    from_tie, told, seen = [], 0, set()
    for seed in range(4):
        job, y = near_tie_job(2, COLUMNS, np.random.default_rng(seed))
        assert (job.m, job.k, job.n, y.shape) == (2, 1, COLUMNS, (2, COLUMNS))
        for acc, scale, result in zip(column_sums(job), job.scale, y[0], strict=True):
            assert INT32.contains(acc)
            exact = acc * Fraction(float(scale))
            by_float32 = int(np.rint(np.float32(acc) * scale)) + job.y_zero_point
            assert result == min(max(by_float32, -128), 127)
            from_tie.append(abs(exact % 1 - HALF))
            told += by_float32 != round(exact) + job.y_zero_point
            seen.add(int(result))
    assert from_tie.count(Fraction(0)) >= 20
    for bits in range(2, 21):  # told from a tie by a bit of each place
        assert any(Fraction(1, 2 << bits) <= each < Fraction(1, 1 << bits) for each in from_tie)
    assert told >= 4
    assert {-128, 127} < seen
    assert len(seen) > 60
