"""Sliding: depthwise convolutions and pools of chosen corners, against golden, whatever stalls; resets in between."""

from __future__ import annotations

import random

import pytest

from systoliq.hw.network.parallelism import Parallelism

from . import stage_bench as bench


@pytest.mark.sampled(3)
@pytest.mark.parametrize("corner", bench.CORNERS)
def test_depthwise_corners(corner):
    image, window = bench.CORNERS[corner]
    rng = random.Random(corner)
    node = bench.convolution(rng, depthwise=True, image=image, window=window, channels=4, b_points="any")
    for lanes, (comes, goes) in ((1, (1.0, 0.6)), (4, (0.5, 1.0))):
        bench.check_stage(node, Parallelism(cols=lanes), rng, comes=comes, goes=goes)


@pytest.mark.parametrize("make", [bench.separable, bench.maximum, bench.average], ids=lambda make: make.__name__)
@pytest.mark.parametrize("seed", range(2))
def test_reset_in_the_middle(make, seed):
    rng = random.Random(f"reset {make.__name__} {seed}")
    node = make(rng)
    bench.check_reset(node, bench.random_choice(node, rng), rng)
