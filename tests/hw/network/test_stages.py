"""Stages: random nodes of every kind, corners included, with random parallelism: golden's integers, whatever stalls."""

from __future__ import annotations

import random

import pytest

from . import stage_bench as bench

SEEDS = range(3)


@pytest.mark.parametrize("make", bench.NODES, ids=lambda make: make.__name__)
def test_reset_in_the_middle(make):
    rng = random.Random(f"reset {make.__name__}")
    node = make(rng)
    bench.check_reset(node, bench.random_choice(node, rng), rng)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("pace", bench.PACES, ids=str)
@pytest.mark.parametrize("make", bench.NODES, ids=lambda make: make.__name__)
@pytest.mark.parametrize("seed", SEEDS)
def test_stage_equals_golden(make, seed, pace):
    rng = random.Random(f"{make.__name__} {seed} {pace}")
    node = make(rng)
    bench.check_stage(node, bench.random_choice(node, rng), rng, comes=pace[0], goes=pace[1])
