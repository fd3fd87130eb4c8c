"""Softmax: the tables in exact integers against golden's float32; all rows of two elements in hardware."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from systoliq.golden import INT8, UINT8
from systoliq.golden.network import Softmax, Tensor
from systoliq.hw.network.parallelism import Parallelism
from systoliq.hw.network.softmax import SoftmaxTables

from . import stage_bench as bench


def node(length, scale, result=1 / 256, *, form=INT8, zero_point=None, rows=1):
    x = Tensor(name="x", shape=(1, rows, length), format=form, scale=np.float32(scale), zero_point=0)
    point = form.min if zero_point is None else zero_point
    return Softmax(name="s", inputs=(x,), output=x.replace(name="y", scale=np.float32(result), zero_point=point))


SCALES = [(0.1, 1 / 256), (0.013, 1 / 256), (0.7, 1 / 127), (3.0, 0.0017), (1e-4, 0.3), (0.2, 0.6), (0.05, 1.5)]


@pytest.mark.parametrize(("scale", "result"), SCALES)
@pytest.mark.parametrize("length", [1, 2, 7, 64])
def test_tables_hold_golden(length, scale, result):
    """Exponentials and their least sum are golden's; numerators are exact, or 0 where no row has another result."""
    made = node(length, scale, result)
    tables = SoftmaxTables.of(made)
    unit = Fraction(float(made.exponentials[0])) / (tables.mantissas[0] << tables.exponents[0])
    for d, value in enumerate(made.exponentials):
        exact = Fraction(float(value))
        assert exact == tables.mantissas[d] * unit * (1 << tables.exponents[d])
        numerator = tables.numerators[d] * unit * (1 << tables.exponents[0]) / (1 << tables.fraction)
        share = exact * tables.levels / Fraction(float(made.exponentials[0]))
        assert numerator == exact * tables.levels if share > Fraction(1, 2) else numerator == 0
    most = max(made.totals(np.zeros((1, length), np.int64)))
    assert Fraction(float(most)) < unit * (1 << 24 + tables.most_exponent)
    assert max(len(bin(word)) - 2 for word in tables.words) <= tables.word_bits


@pytest.mark.slow  # rows of other lengths are below
@pytest.mark.parametrize(("scale", "result"), SCALES[:3])
def test_all_rows_of_two(scale, result):
    """Every difference, either way round, and back to back."""
    form = UINT8 if result == 1 / 127 else INT8
    rows = np.concatenate([[[form.max, form.max - d], [form.max - d, form.max]] for d in range(256)])
    made = node(2, scale, result, form=form, rows=len(rows))
    built = bench.stage(made, Parallelism())
    x = rows.astype(form.dtype)[np.newaxis]
    given = {"i": bench.words_of(made.inputs[0], x, 1)}
    expected = bench.words_of(made.output, made.apply(x), 1)
    assert (
        bench.Bench(built).simulate({"given": given, "wanted": {"o": len(expected)}, "limit": 50_000})["o"] == expected
    )


@pytest.mark.parametrize("length", [16, pytest.param(50, marks=pytest.mark.slow)])
def test_long_rows(length):
    """Of integers that are near each other, so that many count, under stalls."""
    rng = np.random.default_rng(length)
    made = node(length, 0.02, form=UINT8, rows=6)
    x = rng.integers(90, 170, (2, 6, length)).astype(np.uint8)
    built = bench.stage(made, Parallelism())
    given = {"i": bench.words_of(made.inputs[0], x, 1)}
    expected = bench.words_of(made.output, made.apply(x), 1)
    run = bench.Bench(built, seed=length)
    wanted = {"given": given, "wanted": {"o": len(expected)}, "comes": 0.5, "goes": 0.1, "limit": 50_000}
    assert run.simulate(wanted)["o"] == expected
