"""Convolutions over maps in memory, by address: equal to onnxruntime at any place, under stalls; errors are told."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from convolutions import Listed, convolution_of, random_convolution

from systoliq.golden.network import Window
from systoliq.hw.engine import EngineConfig
from systoliq.sim.engine.dma_engine import SimulatedDmaEngine
from systoliq.sim.process import SimulationError

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
def dma_engine(name, simulator="verilator"):
    config, bus_bytes = CASES[name]
    return SimulatedDmaEngine(config, bus_bytes=bus_bytes, simulator=simulator)


def lists_of(found, seed, count, most=4):
    """(convolutions, their list) of up to `most`, all but the first at odd places."""
    rng = np.random.default_rng(seed)
    for index in range(count):
        given = [random_convolution(rng, 5000) for _ in range(int(rng.integers(1, most + 1)))]
        yield given, Listed.of(found, given, seed + index, ragged=index > 0)


def prepared(found, listed, **options):
    return found.prepare(listed.jobs, listed.places, listed.image, limit=500_000, **options)


@pytest.mark.sampled(99)
@pytest.mark.parametrize("name", CASES)
def test_convolutions_are_onnxruntimes(name):
    found = dma_engine(name)
    given = list(lists_of(found, 3, 6))
    work = [
        prepared(found, listed, stalls=STALLS[index % len(STALLS)], seed=index)
        for index, (_, listed) in enumerate(given)
    ]
    for (convolutions, listed), outcome in zip(given, found.simulate(work), strict=True):
        results, _ = found.finish(listed.jobs, listed.places, outcome)
        listed.check(convolutions, results)


def test_windows_that_lie_in_the_padding():
    """Whole lines of them, whose A memory is not asked for."""
    found, rng = dma_engine("3 x 4, 32 bits"), np.random.default_rng(1)
    given = [
        convolution_of(rng, (2, 3, 4, 5), 5, Window(kernel=(2, 2), strides=(3, 1), pads=(5, 4, 3, 3))),
        convolution_of(rng, (1, 8, 1, 1), 3, Window(kernel=(3, 3), pads=(1, 1, 1, 1))),
        convolution_of(rng, (1, 9, 3, 3), 3, Window(kernel=(1, 1), pads=(1, 1, 1, 1))),
    ]
    listed = Listed.of(found, given, 1, ragged=True)
    (outcome,) = found.simulate([prepared(found, listed)])
    results, _ = found.finish(listed.jobs, listed.places, outcome)
    listed.check(given, results)


def test_maps_and_matrices_in_one_list():
    """A convolution of an im2col matrix among others, whose walk leaves nothing behind."""
    found, rng = dma_engine("3 x 4, 32 bits"), np.random.default_rng(8)
    given = [random_convolution(rng, 4000) for _ in range(5)]
    copied = (0, 2, 3)
    listed = Listed.of(found, given, 2, ragged=True, copied=copied)
    (outcome,) = found.simulate([prepared(found, listed, stalls=STALLS[1])])
    results, _ = found.finish(listed.jobs, listed.places, outcome)
    listed.check(given, results)


@pytest.mark.parametrize("stalls", STALLS[:2])
def test_an_error_in_a_map_is_reported_and_the_next_list_is_right(stalls):
    """Of a byte somewhere in its middle, and none where only the padding of a window would be."""
    found = dma_engine("3 x 4, 32 bits")
    given = list(lists_of(found, 21, 8, 2))
    work, rng = [], np.random.default_rng(4)
    for index, (_, listed) in enumerate(given):
        place = listed.places[int(rng.integers(len(listed.places)))]
        broken = [(place.a, place.a + 1)] if index % 2 == 0 and read(place.a_map) else []
        work.append(prepared(found, listed, broken=broken, stalls=stalls, seed=index))
    for (convolutions, listed), each, outcome in zip(given, work, found.simulate(work), strict=True):
        assert outcome.recovered
        assert not outcome.timed_out
        if each.broken:
            with pytest.raises(SimulationError, match="memory answered with an error on a"):
                found.check(outcome, len(listed.jobs))
        else:
            results, _ = found.finish(listed.jobs, listed.places, outcome)
            listed.check(convolutions, results)


def read(maps):
    """Whether the first pixel is one of a window."""
    window = maps.windows.window
    places = [
        {place * stride + tap * dilation - pad for place in range(count) for tap in range(taps)}
        for count, stride, taps, dilation, pad in zip(
            maps.windows.out, window.strides, window.kernel, window.dilations, window.pads[:2], strict=True
        )
    ]
    return all(0 in each for each in places)
