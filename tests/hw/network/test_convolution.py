"""Convolutions against golden: corners of windows, ragged columns, zero points; resets; what is refused."""

from __future__ import annotations

import random

import pytest

from systoliq.golden import UINT8
from systoliq.golden.network import Window
from systoliq.hw import ArrayConfig, Dense
from systoliq.hw.network.convolution import Convolution
from systoliq.hw.network.operators import operator_of
from systoliq.hw.network.parallelism import Parallelism

from . import stage_bench as bench


def built(node, *, cols=1, depth=1, rows=1, windows=None):
    config = ArrayConfig(rows=rows, cols=cols, depth=depth)
    windows = windows or operator_of(node).windows
    dense = Dense(node.layer, bench.requantize(node.layer), config, wrap=True, repeated=windows.moves)
    return Convolution(windows, dense, padding=0, kind="conv")


@pytest.mark.sampled(99)
@pytest.mark.parametrize("corner", bench.CORNERS)
def test_corners(corner):
    image, window = bench.CORNERS[corner]
    rng = random.Random(corner)
    node = bench.convolution(rng, image=image, window=window, channels=2, b_points="any")
    for comes, goes in ((1.0, 0.6), (0.5, 1.0)):
        bench.check_stage(node, bench.random_choice(node, rng), rng, comes=comes, goes=goes)


@pytest.mark.sampled(99)
@pytest.mark.parametrize("b_points", ["none", "one", "any"])
def test_parallelism(b_points):
    """Ragged columns among them: 6 output channels, 4 or 5 at a time."""
    rng = random.Random(b_points)
    window = Window(kernel=(2, 2), strides=(1, 2), pads=(1, 0, 0, 1))
    while True:
        node = bench.convolution(rng, image=(3, 4), window=window, channels=4, b_points=b_points)
        if node.layer.n == 6 and node.inputs[0].format == UINT8:
            break
    possible = list(operator_of(node).choices())
    ragged = [each for each in possible if 6 % each.cols]
    for parallelism in (*rng.sample(ragged, 2), *rng.sample(possible, 4)):
        bench.check_stage(node, parallelism, rng, images=2, goes=0.8)


@pytest.mark.parametrize("make", [bench.convolution, bench.dense], ids=lambda make: make.__name__)
@pytest.mark.parametrize("seed", range(2))
def test_reset_in_the_middle(make, seed):
    rng = random.Random(f"reset {make.__name__} {seed}")
    node = make(rng)
    bench.check_reset(node, bench.random_choice(node, rng), rng)


def test_refused():
    rng = random.Random(2)
    node = bench.convolution(rng, image=(3, 3), window=Window(kernel=(2, 2)), channels=2)
    while node.layer.n != 5:
        node = bench.convolution(rng, image=(3, 3), window=Window(kernel=(2, 2)), channels=2)
    other = bench.convolution(rng, image=(3, 3), window=Window(kernel=(1, 2)), channels=2)
    with pytest.raises(ValueError, match="the layer's K must be the window's 4 elements, not 8"):
        built(node, windows=operator_of(other).windows)
    with pytest.raises(ValueError, match="rows must be 1, not 2"):
        built(node, rows=2)
    with pytest.raises(ValueError, match="the lanes, 4 for 4 columns, must divide the 5 output channels"):
        built(node, cols=4, depth=8)
    grouped = bench.grouped(rng)
    while grouped.layer.n != 6 or grouped.groups != 2:
        grouped = bench.grouped(rng)
    with pytest.raises(ValueError, match="'conv': cols must divide the 6 columns in 2 groups, not 2"):
        bench.stage(grouped, Parallelism(cols=2))
    with pytest.raises(ValueError, match="'conv': depth must divide the 8 elements of K, not 3"):
        bench.stage(node, Parallelism(depth=3))
