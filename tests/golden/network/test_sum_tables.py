"""Sums of two tables: equal to golden's addition for all pairs of bytes, random scales; None where there are none."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from systoliq.golden import INT8, UINT8
from systoliq.golden.network import Addition, Tensor
from systoliq.golden.network.sum_tables import MOST_SHIFT, SumTables

TRIPLES = 240


def node(seed):
    """An addition with scales of random size, near each other or far apart, and random zero points."""
    rng = random.Random(f"scales {seed}")
    form = rng.choice([INT8, UINT8])
    spread = rng.choice([0.2, 2, 5])
    tensors = [
        Tensor(
            name=name,
            shape=(1, 256, 256),
            format=form,
            scale=np.float32(0.02 * 2 ** rng.uniform(-spread, spread)),
            zero_point=rng.choice([form.min, form.max, rng.randint(form.min, form.max)]),
        )
        for name in "aby"
    ]
    return Addition(name="sum", inputs=tuple(tensors[:2]), output=tensors[2], exchanged=rng.random() < 0.5)


SEEDS = [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, TRIPLES))]


@pytest.mark.parametrize("seed", SEEDS)
def test_all_pairs(seed):
    golden = node(seed)
    form = golden.output.format
    codes = golden.inputs[0].codes
    results = golden.apply(*np.broadcast_arrays(codes[None, :, None], codes[None, None, :]))[0]
    tables = SumTables.of(results, form)
    assert tables is not None
    places = np.indices((256, 256))
    np.testing.assert_array_equal(tables.apply(*places), results)
    np.testing.assert_array_equal(by_integers(tables), results)
    assert 0 <= tables.shift <= MOST_SHIFT


def by_integers(tables):
    """The formula in Python's integers: round half to even, saturate."""
    rows = []
    for a in tables.a:
        row = []
        for b in tables.b:
            whole, rest = divmod(a + b, 1 << tables.shift)
            twice = 2 * rest
            whole += twice > 1 << tables.shift or (twice == 1 << tables.shift and whole & 1)
            row.append(min(max(whole, tables.output.min), tables.output.max))
        rows.append(row)
    return np.array(rows)


def test_least_shift():
    """Whole sums need none."""
    codes = np.arange(-128, 128)
    results = np.clip(codes[:, None] + codes, -128, 127)
    tables = SumTables.of(results, INT8)
    assert tables.shift == 0
    np.testing.assert_array_equal(tables.apply(*np.indices((256, 256))), results)


@pytest.mark.slow
@pytest.mark.parametrize("step", [1, 100])
def test_no_two_tables(step):
    """Greater where both are on one side: u0 + v0 and u1 + v1 would have to exceed u0 + v1 and u1 + v0."""
    side = np.arange(256) < 128
    results = np.where(side[:, None] == side, step, 0)
    assert SumTables.of(results, INT8) is None


def test_one_pair_of_all_that_does_not_fit():
    codes = np.arange(-128, 128)
    results = np.clip((codes[:, None] + codes) // 2, -128, 127)
    results[100, 90] += 1
    results[101, 91] -= 2
    assert SumTables.of(results, INT8) is None


@pytest.mark.parametrize("shift", [0, 1, 2, 5])
def test_sums_are_rounded_half_to_even(shift):
    totals = range(-300, 300)
    tables = SumTables(a=tuple(totals), b=(0, 7), shift=shift, output=INT8)
    for j, more in enumerate(tables.b):
        found = tables.apply(np.arange(600), np.full(600, j))
        assert found.dtype == np.int8
        assert found.tolist() == [min(max(round(Fraction(t + more, 1 << shift)), -128), 127) for t in totals]
