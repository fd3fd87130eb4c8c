"""Steps: equal to golden's multiplication for all pairs of bytes, random scales; places of steps; what is no line."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from systoliq.golden import INT8, UINT8
from systoliq.golden.network import Multiplication, Tensor
from systoliq.golden.network.steps import Steps

TRIPLES = 240


def node(seed):
    """A multiplication with scales of random size, powers of two and ratios of small numbers among them."""
    rng = random.Random(f"scales {seed}")
    form = rng.choice([INT8, UINT8])
    kind = rng.choice(["any", "any", "far", "powers", "ratios"])
    draw = {
        "any": lambda: 0.02 * 2 ** rng.uniform(-2, 2),
        "far": lambda: 0.02 * 2 ** rng.uniform(-6, 6),
        "powers": lambda: 2.0 ** rng.randint(-8, -3),
        "ratios": lambda: rng.randint(1, 40) / rng.randint(1, 80),
    }[kind]
    points = [rng.choice([form.min, form.max, rng.randint(form.min, form.max)]) for _ in "aby"]
    a, b, y = (
        Tensor(name=name, shape=(1, 256, 256), format=form, scale=np.float32(draw()), zero_point=point)
        for name, point in zip("aby", points, strict=True)
    )
    return Multiplication(name="product", inputs=(a, b), output=y)


def steps_of(golden):
    low, high = golden.products
    results = golden.rescaled(np.arange(low, high + 1, dtype=np.int32))
    return Steps.of(results, low, float(golden.scale), golden.output.zero_point, golden.output.format)


@pytest.mark.parametrize("seeds", [range(24), pytest.param(range(24, TRIPLES), marks=pytest.mark.slow)])
def test_all_pairs(seeds):
    """The constants, in Python's integers for some of the pairs, and in numpy's for all."""
    for seed in seeds:
        golden = node(seed)
        codes = golden.inputs[0].codes
        a, b = np.broadcast_arrays(codes[None, :, None], codes[None, None, :])
        expected = golden.apply(a, b)[0]
        steps = steps_of(golden)
        products = np.multiply.outer(*(codes.astype(np.int64) - x.zero_point for x in golden.inputs))
        np.testing.assert_array_equal(steps.apply(products), expected)
        rng = random.Random(seed)
        for i, j in ((rng.randrange(256), rng.randrange(256)) for _ in range(200)):
            assert by_integers(steps, int(products[i, j])) == expected[i, j]
        assert steps.multiplier <= 1 << 12


def by_integers(steps, p):
    """The formula in Python's integers."""
    output = steps.output
    estimate = (p * steps.multiplier >> steps.shift) + steps.zero_point
    estimate = min(max(estimate, output.min), output.max - 1)
    return estimate + (p >= steps.thresholds[estimate - output.min])


def test_places_of_steps():
    """Halves go to the even side of the result, which no shift of the product alone can say."""
    p = np.arange(-40, 41)
    results = np.clip(np.rint(p / 4 + 3), -128, 127)
    steps = Steps.of(results, -40, 0.25, 3, INT8)
    assert [steps.thresholds[y + 128] for y in (2, 3, 4)] == [-1, 2, 7]
    assert (steps.thresholds[0], steps.thresholds[-1]) == (-40, 41)
    np.testing.assert_array_equal(steps.apply(p), results)


@pytest.mark.parametrize(("slope", "point"), list(itertools.product([0.0, 1e-30, 1e30], [0, 17, 255])))
def test_flat_and_steep(slope, point):
    p = np.arange(-300, 301)
    results = np.clip(np.rint(p * slope + point), 0, 255)
    np.testing.assert_array_equal(Steps.of(results, -300, slope, point, UINT8).apply(p), results)


def test_what_is_no_line():
    p = np.arange(-300, 301)
    with pytest.raises(ValueError, match="the results must rise"):
        Steps.of(np.clip(-p, -128, 127), -300, 1.0, 0, INT8)
    with pytest.raises(ValueError, match="the results must be those of a line, rounded and saturated"):
        Steps.of(np.clip(p, -128, 127), -300, 0.5, 0, INT8)
