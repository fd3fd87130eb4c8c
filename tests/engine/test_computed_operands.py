"""Lists whose jobs read what jobs before them have written: each result is right, whatever waits."""

from __future__ import annotations

import numpy as np
import pytest
from configurations import fits, golden
from dma_lists import DEEP, SMALL, WIDE
from engines import LONG_DRAIN
from operations import values

from systoliq.hw.dma.commands import Placement, command_list, tiled
from systoliq.hw.engine.host import Job
from systoliq.sim.engine.dma_engine import MemoryImage, SimulatedDmaEngine

STALLS = [(0, 0, 0, 0), (0.3, 0.3, 0.3, 0.3), (0, 0, 0, 0.9), (0.8, 0, 0, 0)]
CASES = {"small": (SMALL, 4), "deep": (DEEP, 8), "wide": (WIDE, 16), "long drain": (LONG_DRAIN, 4)}


class Chain:
    """Jobs in a list; `computed` are operands that are results, unless a job since then has waited for them."""

    def __init__(self, config, bus_bytes, seed):
        self.config, self.bus_bytes = config, bus_bytes
        self.rng, self.image = np.random.default_rng(seed), MemoryImage(seed)
        self.jobs, self.places, self.computed = [], [], {}
        self.unknown = set()  # results that may not be in memory yet

    def add(self):
        """One more job, of results where they fit."""
        rng, config = self.rng, self.config
        while True:
            a_from, b_from = (self._source() for _ in range(2))
            if config.depth > 1:
                b_from = None  # B lies in words
            m, k = self._shape(a_from) or tuple(int(size) for size in rng.integers(1, 13, 2))
            rows, n = self._shape(b_from) or (k, int(rng.integers(1, 13)))
            if rows == k and fits(config, m, k, n, per_row=False):
                break
        a = values(rng, rng.choice([np.int8, np.uint8]), (m, k)) if a_from is None else golden(self.jobs[a_from])
        b = values(rng, np.int8, (k, n)) if b_from is None else golden(self.jobs[b_from])
        job = Job(
            a=a, b=b, a_zero_point=np.array([rng.integers(0, 9)], a.dtype), b_zero_point=np.full(n, 1, b.dtype),
            bias=rng.integers(-99, 99, n).astype(np.int32), scale=np.full(n, 0.004, np.float32),
        )  # fmt: skip
        late = {name for name, source in (("a", a_from), ("b", b_from)) if source in self.unknown}
        if late:
            self.computed[len(self.jobs)] = "".join(sorted(late))
            self.unknown.clear()
        self.unknown.add(len(self.jobs))
        self.places.append(self._place(job, a_from, b_from))
        self.jobs.append(job)

    def _source(self):
        """One of the last jobs, or None."""
        last = len(self.jobs)
        return int(self.rng.integers(max(0, last - 3), last)) if last and self.rng.random() < 0.6 else None

    def _shape(self, source):
        return None if source is None else (self.jobs[source].m, self.jobs[source].n)

    def _place(self, job, a_from, b_from):
        image, places = self.image, self.places
        a, a_stride = image.matrix(job.a) if a_from is None else (places[a_from].y, places[a_from].y_stride)
        b, b_stride = image.put(tiled(job.b, self.config).tobytes(), self.bus_bytes), None
        if b_from is not None:
            b, b_stride = places[b_from].y, places[b_from].y_stride
        y, y_stride = image.matrix(np.zeros((job.m, job.n), job.y_dtype))
        return Placement(a=a, a_stride=a_stride, b=b, b_stride=b_stride, y=y, y_stride=y_stride)

    def prepare(self, found, **options):
        """Its list in memory."""
        list_ = command_list(self.jobs, self.places, self.config, self.bus_bytes, computed=self.computed).data
        address = self.image.put(list_, 4)
        self.image.reserve(0, 64)
        return found.work(bytes(self.image.data), address, len(list_), **options)


def chains(config, bus_bytes, count):
    """`count` chains of up to 8 jobs."""
    for seed in range(count):
        chain = Chain(config, bus_bytes, seed)
        for _ in range(2 + seed % 7):
            chain.add()
        yield chain


def check(config, bus_bytes, count, simulator="verilator"):
    found = SimulatedDmaEngine(config, bus_bytes=bus_bytes, simulator=simulator)
    given = list(chains(config, bus_bytes, count))
    work = [
        chain.prepare(found, stalls=STALLS[index % 4], seed=index, limit=200_000) for index, chain in enumerate(given)
    ]
    for chain, outcome in zip(given, found.simulate(work), strict=True):
        for job, y in zip(chain.jobs, found.finish(chain.jobs, chain.places, outcome)[0], strict=True):
            np.testing.assert_array_equal(y, golden(job))
    return given


@pytest.mark.simulator
def test_results_are_operands():
    given = check(SMALL, 4, 12)
    assert {late for chain in given for late in chain.computed.values()} == {"a", "b", "ab"}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_many_results_are_operands(name):
    check(*CASES[name], 60)
