"""Jobs of sums near ties, in exact rationals: what they hold, and that float32 and exact rounding part ways in them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from systoliq.golden.formats import INT32
from systoliq.testbench.engine.near_ties import COLUMNS, near_tie_jobs, near_ties

HALF = Fraction(1, 2)


def column_sums(job) -> list[int]:
    """Of row 0, in Python's integers."""
    a = int(job.a[0, 0]) - int(job.a_zero_point[0])
    return [a * (int(b) - int(z)) + int(bias) for b, z, bias in zip(job.b[0], job.b_zero_point, job.bias, strict=True)]


def test_sums_are_near_ties_and_results_those_of_float32():
    from_tie, told, seen, columns = [], 0, set(), 0
    for job, y in near_tie_jobs(2, COLUMNS, np.random.default_rng(0)):
        assert (job.m, job.k, y.shape) == (2, 1, (2, job.n))
        assert job.n <= COLUMNS
        columns += job.n
        for acc, scale, result in zip(column_sums(job), job.scale, y[0], strict=True):
            assert INT32.contains(acc)
            exact = acc * Fraction(float(scale))
            by_float32 = int(np.rint(np.float32(acc) * scale)) + job.y_zero_point
            assert result == min(max(by_float32, -128), 127)
            from_tie.append(abs(exact % 1 - HALF))
            told += by_float32 != round(exact) + job.y_zero_point
            seen.add(int(result))
    assert columns > 600
    for bits in range(2, 21):  # told from a tie by a bit of each place
        assert any(Fraction(1, 2 << bits) <= each < Fraction(1, 1 << bits) for each in from_tie)
    assert told >= 50
    assert {-128, 127} < seen
    assert len(seen) > 120


def test_small_tables_get_fewer_sums():
    jobs = list(near_tie_jobs(1, 4, np.random.default_rng(0)))
    assert [job.n for job, _ in jobs] == [4] * 12


@pytest.mark.parametrize("above", [True, False])
def test_each_place_alone_differs_from_a_tie(above):
    """From 0.1000... by one bit that is set, from 0.0111... by one that is clear."""
    alone, rounded = set(), 0
    for tie in near_ties(np.random.default_rng(1)):
        assert 1 << 23 <= tie.multiplier < 1 << 24
        if tie.acc != int(np.float32(tie.acc)):
            rounded += 1
            continue
        product, half = tie.acc * tie.multiplier, 1 << tie.shift - 1
        last = max(abs(product).bit_length() - 25, 0)  # places below are none of float32's
        fraction = product % (2 * half)
        unlike = (fraction ^ half if above else ~fraction & half - 1) >> last << last
        result = product >> tie.shift
        if result in range(-128, 128) and bool(fraction & half) == above and unlike.bit_count() == 1:
            alone.add(unlike.bit_length() - 1)
            assert result % 2 == (not above)
    assert rounded == 2 * sum(3 + 2 * (lost - 1) for lost in range(1, 8))  # those of the rounding of sums, no others
    assert alone >= set(range(52) if above else range(1, 49))


@pytest.mark.parametrize("sign", [1, -1])
def test_float32_rounds_to_ties_from_both_sides(sign):
    """For each place of the leading bit: within half a last place, just so far, and just not."""
    inside, half, outside = set(), set(), set()
    for tie in near_ties(np.random.default_rng(2)):
        product = tie.acc * tie.multiplier
        leading = abs(product).bit_length() - 1
        distance = ((product % (1 << tie.shift)) - (1 << tie.shift - 1)) * sign
        half_place = Fraction(2) ** (leading - 24)
        for found, least, most in ((inside, 0, 1), (outside, 1, 2)):
            if least * half_place < distance < most * half_place:
                found.add(leading)
        if distance == half_place:
            half.add(leading)
    assert inside >= set(range(26, 54))
    assert outside >= set(range(26, 54))
    assert half >= set(range(25, 54))


@pytest.mark.parametrize("sign", [1, -1])
def test_results_tell_how_long_sums_are_rounded(sign):
    """Of each length: ties, with the last bit that is kept even and odd, and each bit alone that says it is none."""
    found = set()
    for tie in near_ties(np.random.default_rng(3)):
        bits = max(abs(tie.acc).bit_length() - 24, 0)
        kept, lost = divmod(abs(tie.acc), 1 << bits)
        if not lost or tie.acc * sign < 0:
            continue
        scale = np.float32(np.ldexp(tie.multiplier, -tie.shift))
        both = {int(np.rint(np.float32(each << bits) * scale)) for each in (kept, kept + 1)}
        assert len(both) == 2
        found.add((bits, kept % 2, lost - (1 << bits - 1)))
    for bits in range(1, 8):
        assert {(bits, 0, 0), (bits, 1, 0)} < found
        assert {(bits, 0, 1 << place) for place in range(bits - 1)} <= found
        assert {(bits, 1, -1 << place) for place in range(bits - 1)} <= found
