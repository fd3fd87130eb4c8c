"""Rates: cycles from image to image, as simulation shows them; and all that a stage can be, which all can be built."""

from __future__ import annotations

import itertools
import random
import re

import pytest

from systoliq.golden.network import Window
from systoliq.hw.hierarchy import mark_used
from systoliq.hw.network.rate import (
    Parallelism,
    choices,
    image_cycles,
    is_product,
    is_wide,
    lanes,
    multipliers,
    requantizer_factors,
    windows_of,
)

from . import stage_bench as bench

IMAGES = 7


def gaps(node, parallelism):
    """Cycles between the last beats of images, where neither side waits."""
    rng = random.Random(0)
    built = bench.stage(node, parallelism)
    given, expected = bench.traffic(node, built, IMAGES, rng)
    run = bench.Bench(built)
    assert run.simulate({"given": given, "wanted": {"o": len(expected)}})["o"] == expected
    ends = run.times["o"][len(expected) // IMAGES - 1 :: len(expected) // IMAGES]
    return [after - before for before, after in itertools.pairwise(ends)]


def drawn(make, seed, *, most=400):
    """A random node and parallelism, small enough to be simulated at once."""
    rng = random.Random(f"rate {make.__name__} {seed}")
    while True:
        node = make(rng)
        parallelism = bench.random_choice(node, rng)
        if not windows_of(node).leaves_image and image_cycles(node, parallelism) <= most:
            return node, parallelism


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 25))])
@pytest.mark.parametrize("make", bench.NODES, ids=lambda make: make.__name__)
def test_images_leave_at_the_rate(make, seed):
    node, parallelism = drawn(make, seed)
    assert gaps(node, parallelism)[-3:] == [image_cycles(node, parallelism)] * 3


@pytest.mark.parametrize(
    ("image", "window"),
    [
        ((4, 4), Window(kernel=(2, 2), strides=(2, 2))),
        ((5, 1), Window(kernel=(1, 1), strides=(2, 1))),
        ((4, 2), Window(kernel=(1, 1))),
        ((3, 4), Window(kernel=(1, 2), pads=(0, 1, 0, 0))),
        ((6, 6), Window(kernel=(3, 3), strides=(2, 2), pads=(0, 0, 1, 1))),
        ((1, 1), Window(kernel=(1, 1))),
    ],
    ids=str,
)
def test_rate_of_windows_that_leave_as_quickly_as_lines_come(image, window):
    node = bench.convolution(random.Random(1), depthwise=True, image=image, window=window, channels=2)
    for parallelism in choices(node):
        assert gaps(node, parallelism)[-3:] == [image_cycles(node, parallelism)] * 3


@pytest.mark.sampled(99)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("make", [bench.convolution, bench.grouped], ids=lambda make: make.__name__)
def test_rate_of_several_pixels_of_a_window_at_a_time(make, seed):
    """All of it at once among them."""
    rng = random.Random(f"wide {make.__name__} {seed}")
    wide = []
    while not wide:
        node = make(rng)
        wide = [each for each in choices(node) if is_wide(node, each) and not windows_of(node).leaves_image]
    for parallelism in {rng.choice(wide), wide[-1]}:
        assert gaps(node, parallelism)[-3:] == [image_cycles(node, parallelism)] * 3


@pytest.mark.parametrize("make", bench.NODES, ids=lambda make: make.__name__)
def test_all_choices_build(make):
    rng = random.Random(f"choices {make.__name__}")
    for _ in range(2):
        node = make(rng)
        found = list(choices(node))
        assert len(set(found)) == len(found)
        for parallelism in found:
            built = bench.stage(node, parallelism)
            mark_used(built)
            inputs = [built.i] if len(node.inputs) == 1 else [getattr(built, f"i_{i}") for i in range(len(node.inputs))]
            taken = windows_of(node).word(parallelism.depth) if is_product(node) else parallelism.cols
            assert [bench.lanes_of(port) for port in inputs] == [taken] * len(inputs)
            assert bench.lanes_of(built.o) == lanes(node, parallelism)
            assert windows_of(node).channels % bench.lanes_of(inputs[0]) == 0


def test_multipliers_and_sums():
    rng = random.Random(5)
    full, own = (bench.convolution(rng, depthwise=each, channels=4) for each in (False, True))
    mean, add, look = bench.average(rng), bench.addition(rng), bench.table(rng)
    wide = Parallelism(cols=2, depth=4)
    assert multipliers(full, wide) == 8
    assert [multipliers(node, Parallelism(cols=2)) for node in (own, mean, add, look)] == [2, 2, 0, 0]
    assert requantizer_factors(add) is requantizer_factors(look) is None
    lows, highs = full.layer.accumulator_range()
    bits, mantissas = requantizer_factors(full)
    assert mantissas == max(scale.as_integer_ratio()[0].bit_length() for scale in full.layer.scale.tolist())
    assert -(1 << bits - 1) <= lows.min()
    assert highs.max() < 1 << bits - 1


@pytest.mark.parametrize("fields", [{"cols": 0}, {"depth": -1}, {"cols": 1.5}, {"depth": "2"}])
def test_parallelism_is_positive(fields):
    ((name, value),) = fields.items()
    with pytest.raises(ValueError, match=re.escape(f"{name} must be a positive integer, not {value!r}")):
        Parallelism(**fields)
