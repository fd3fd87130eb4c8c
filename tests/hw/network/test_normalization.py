"""Layer normalization in hardware: rows of one value, of the ends of the range, and long ones, under stalls."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import INT8, UINT8
from systoliq.golden.network import LayerNormalization, Tensor
from systoliq.hw.network.operators import operator_of
from systoliq.hw.network.parallelism import Parallelism

from . import stage_bench as bench


def rows_of(form, length):
    """Alike; all but one at an end; half at either end; near each other."""
    rng = np.random.default_rng(length)
    alone = np.full((2, length), form.min)
    alone[:, -1] = [form.max, form.min + 1]
    halves = np.where(np.arange(length) % 2, form.min, form.max)
    near = rng.integers(form.min + 9, form.min + 12, (2, length))
    return np.concatenate([np.full((1, length), form.max), alone, halves[np.newaxis], near]).astype(form.dtype)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("length", "form", "scale"),
    [(2, INT8, 0.03), (3, UINT8, 0.03), (16, INT8, 0.03), (16, INT8, 20.0), (33, UINT8, 0.03)],
)
def test_extreme_rows(length, form, scale):
    """At a great scale, only the zero point of the results, the least code, makes them wide."""
    rows = rows_of(form, length)
    rng = np.random.default_rng(length)
    x = Tensor(name="x", shape=(1, len(rows), length), format=form, scale=np.float32(0.02), zero_point=form.min + 7)
    y = x.replace(name="y", scale=np.float32(scale), zero_point=form.min)
    made = LayerNormalization(
        name="n", inputs=(x,), output=y, epsilon=np.float32(1e-5),
        gain=rng.normal(1, 1, length).astype(np.float32), shift=rng.normal(0, 0.3, length).astype(np.float32),
    )  # fmt: skip
    built = bench.stage(made, Parallelism())
    given = {"i": bench.words_of(x, rows[np.newaxis], 1)}
    expected = bench.words_of(made.output, made.apply(rows[np.newaxis]), 1)
    phase = {"given": given, "wanted": {"o": len(expected)}, "comes": 0.5, "goes": 0.2}
    assert bench.Bench(built, seed=length).simulate(phase)["o"] == expected


@pytest.mark.parametrize("length", [2, 192, 768, 4096])
def test_widths_hold_the_extremes(length):
    """No root, inverse or product is wider than the stage has them, from the least variance to the greatest."""
    x = Tensor(name="x", shape=(1, length), format=INT8, scale=np.float32(0.004), zero_point=3)
    ones = np.ones(length, np.float32)
    made = LayerNormalization(name="n", inputs=(x,), output=x, gain=ones, shift=ones, epsilon=np.float32(1e-5))
    widths, steps = operator_of(made).widths, made.steps
    least = length - 1
    for variance in (least, 2 * least, made.most_variance // 2, made.most_variance):
        root = int(np.sqrt(float((variance << 2 * steps.half) + steps.offset)))
        inverse = (1 << steps.dividend) // root
        assert root.bit_length() <= widths.root
        assert inverse.bit_length() <= widths.inverse
        farthest = int(np.sqrt(float(variance) * (length - 1)))  # of one element, the others alike
        farthest = min(farthest, (length - 1) * 255)
        assert (farthest * inverse).bit_length() <= widths.product
        assert inverse.bit_length() >= 24
    assert widths.product < 64
