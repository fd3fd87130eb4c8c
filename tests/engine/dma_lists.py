"""Engines with masters, and random lists of jobs for them."""

from __future__ import annotations

import functools

import numpy as np
from configurations import random_jobs
from engines import FLOAT8, LONG_DRAIN

from systoliq.hw.engine import EngineConfig
from systoliq.sim.engine.dma_engine import MemoryImage, SimulatedDmaEngine

SMALL = EngineConfig(rows=3, cols=4, lanes=2, a_words=16, b_words=32, max_columns=16, max_rows=8)
DEEP = EngineConfig(rows=2, cols=3, lanes=1, depth=4, a_words=16, b_words=32, max_columns=8, max_rows=4)
WIDE = EngineConfig(rows=8, cols=16, lanes=16, a_words=32, b_words=64, max_columns=64, max_rows=16)
TALL = EngineConfig(rows=9, cols=2, lanes=1, a_words=16, b_words=16, max_columns=4, max_rows=16, cells="ecp5")
CASES = {
    "small, 32 bits": (SMALL, 4),
    "small, 128 bits": (SMALL, 16),
    "deep, 64 bits": (DEEP, 8),
    "wide, 128 bits": (WIDE, 16),
    "wide, 64 bits": (WIDE, 8),
    "long drain, 32 bits": (LONG_DRAIN, 4),
    "tall, of cells, 32 bits": (TALL, 4),
    "float8, 64 bits": (FLOAT8.replace(lanes=2), 8),
}


@functools.cache
def dma_engine(name, simulator="verilator"):
    config, bus_bytes = CASES[name]
    return SimulatedDmaEngine(config, bus_bytes=bus_bytes, simulator=simulator)


def lists_of(found, seed, count, most=6):
    """(jobs, places, image) of lists of up to `most` jobs, every other one at odd places."""
    rng = np.random.default_rng(seed)
    for index in range(count):
        jobs = random_jobs(found.config, rng, int(rng.integers(1, most + 1)))
        image = MemoryImage(seed + index)
        yield jobs, found.place(jobs, image, ragged=index % 2 == 1), image
