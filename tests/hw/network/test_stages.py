"""Stages: random nodes of every kind, corners included, with random parallelism: golden's integers, whatever stalls."""

from __future__ import annotations

import random

import numpy as np
import pytest

from systoliq.hw.network.parallelism import Parallelism
from systoliq.hw.network.stages import stage_of

from . import stage_bench as bench

SEEDS = range(3)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("make", bench.NODES, ids=lambda make: make.__name__)
def test_reset_in_the_middle(make):
    rng = random.Random(f"reset {make.__name__}")
    node = make(rng)
    bench.check_reset(node, bench.random_choice(node, rng), rng)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("pace", bench.PACES, ids=str)
@pytest.mark.parametrize("make", bench.NODES, ids=lambda make: make.__name__)
@pytest.mark.parametrize("seed", SEEDS)
def test_stage_equals_golden(make, seed, pace):
    rng = random.Random(f"{make.__name__} {seed} {pace}")
    node = make(rng)
    bench.check_stage(node, bench.random_choice(node, rng), rng, comes=pace[0], goes=pace[1])


def test_an_order_of_other_elements_is_refused():
    node = bench.dense(random.Random("order"))
    k = node.layer.k

    def in_order(order):
        return stage_of(node, Parallelism(), cells="portable", kind="stage", requantize=bench.requantize, order=order)

    for order in (np.arange(k - 1), np.arange(k + 1) - 1):
        with pytest.raises(ValueError, match="node 'fc': its elements must come in raster order, channels last"):
            in_order(order)
    assert in_order(np.arange(k)[::-1]).kind == "stage"
