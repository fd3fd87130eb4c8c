"""The cycle model of whole lists, against RTL: random lists of jobs and of the vector unit, without stalls."""

from __future__ import annotations

import numpy as np
import pytest
from dma_lists import CASES, dma_engine, lists_of
from vector_lists import BUSES, engine, operations_of, prepared, random_operation, random_tables

from systoliq.hw.dma.list_cycles import list_cycles
from systoliq.sim.engine.dma_engine import MemoryImage

POLLS = 6
SHARE = 0.04
"""The bound: of a list, as many polls of 8 cycles, or this share of its cycles, whichever is more. Lists of tables,
sums and maxima have no deviation.
"""


def lists_of_jobs(name, count):
    """(engine, prepared list), every other one with matrices at odd places."""
    found = dma_engine(name)
    for jobs, places, image in lists_of(found, 1000, count):
        yield found, found.prepare(jobs, places, image, limit=200_000)


def lists_of_vectors(bus_bytes, count, draw=random_operation):
    """The same of the vector unit."""
    found = engine(bus_bytes)
    for seed in range(1000, 1000 + count):
        image, rng = MemoryImage(seed), np.random.default_rng(seed)
        operations = operations_of(image, rng, int(rng.integers(1, 6)), bus_bytes, ragged=seed % 2 == 0, draw=draw)
        yield found, prepared(found, image, operations, limit=300_000)


def deviations(given):
    """(cycles of the model, cycles of RTL) of each list."""
    (found, *_), works = zip(*given, strict=True)
    return [
        (list_cycles(work.memory[work.address :][: work.length], found.config, found.bus_bytes).cycles, outcome.cycles)
        for work, outcome in zip(works, found.simulate(works), strict=True)
    ]


def check(given):
    found = deviations(given)
    for model, cycles in found:
        assert abs(model - cycles) <= max(8 * POLLS, SHARE * cycles), (model, cycles)
    exact = sum(model == cycles for model, cycles in found)
    worst = max(abs(model - cycles) / cycles for model, cycles in found)
    most = max(abs(model - cycles) for model, cycles in found)
    print(f"\n{len(found)} lists: {exact} exact, at most {worst:.1%} or {most} cycles", end="")  # noqa: T201 - with -s
    total = sum(cycles for _, cycles in found)
    assert abs(sum(model for model, _ in found) - total) < 0.01 * total


def check_exact(given):
    found = deviations(given)
    assert [model for model, _ in found] == [cycles for _, cycles in found]


def test_lists_of_jobs():
    check(lists_of_jobs("small, 32 bits", 5))


def test_lists_of_the_vector_unit():
    check(lists_of_vectors(4, 2))
    check_exact(lists_of_vectors(4, 4, random_tables))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CASES if "float8" not in name])
def test_many_lists_of_jobs(name):
    check(lists_of_jobs(name, 25))


@pytest.mark.slow
@pytest.mark.parametrize("bus_bytes", BUSES)
def test_many_lists_of_the_vector_unit(bus_bytes):
    check(lists_of_vectors(bus_bytes, 25))
    check_exact(lists_of_vectors(bus_bytes, 100, random_tables))
