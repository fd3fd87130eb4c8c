"""Convolutions over maps in memory, by address: equal to onnxruntime at any place, under stalls; errors are told."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from convolutions import Listed, random_convolution

from systoliq.hw.engine import EngineConfig
from systoliq.sim.engine.self_fed import SelfFed

SIZES = {"a_words": 64, "b_words": 2048, "max_columns": 16, "max_rows": 8}
CASES = {
    "3 x 4, 32 bits": (EngineConfig(rows=3, cols=4, lanes=2, **SIZES), 4),
    "8 x 4, 64 bits": (EngineConfig(rows=8, cols=4, lanes=4, **SIZES), 8),
    "4 x 8, 128 bits": (EngineConfig(rows=4, cols=8, lanes=1, **SIZES), 16),
    "depth 2, 64 bits": (EngineConfig(rows=2, cols=4, lanes=2, depth=2, **SIZES), 8),
    "depth 4, 128 bits": (EngineConfig(rows=4, cols=2, lanes=2, depth=4, **SIZES), 16),
    "one row, 32 bits": (EngineConfig(rows=1, cols=2, lanes=1, **SIZES), 4),
    "little memory, 128 bits": (EngineConfig(rows=3, cols=4, lanes=2, **SIZES | {"a_words": 16, "b_words": 32}), 16),
}
STALLS = [(0, 0, 0, 0), (0.3, 0.3, 0.3, 0.3), (0.7, 0, 0, 0), (0, 0.5, 0, 0.8)]


@functools.cache
def self_fed(name, simulator="verilator"):
    config, bus_bytes = CASES[name]
    return SelfFed(config, bus_bytes=bus_bytes, simulator=simulator)


def lists_of(found, seed, count, most=4):
    """(convolutions, their list) of up to `most`, all but the first at odd places."""
    rng = np.random.default_rng(seed)
    for index in range(count):
        given = [random_convolution(rng) for _ in range(int(rng.integers(1, most + 1)))]
        yield given, Listed.of(found, given, seed + index, ragged=index > 0)


def prepared(found, listed, **options):
    return found.prepare(listed.jobs, listed.places, listed.image, limit=500_000, **options)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CASES)
def test_convolutions_are_onnxruntimes(name):
    found = self_fed(name)
    given = list(lists_of(found, 3, 6))
    work = [
        prepared(found, listed, stalls=STALLS[index % len(STALLS)], seed=index)
        for index, (_, listed) in enumerate(given)
    ]
    for (convolutions, listed), outcome in zip(given, found.simulate(work), strict=True):
        results, _ = found.finish(listed.jobs, listed.places, outcome)
        listed.check(convolutions, results)
