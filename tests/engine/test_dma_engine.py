"""The DMA engine: lists of jobs in memory, right at any place, under stalls; errors are reported and end."""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import pytest
from configurations import golden
from dma_lists import CASES, SMALL, dma_engine, lists_of

from systoliq.hw.dma.commands import command_list
from systoliq.hw.dma.dma_engine import DmaEngine
from systoliq.hw.engine import ERRORS
from systoliq.hw.engine.host import Map
from systoliq.sim.engine import ENGINE_ERRORS
from systoliq.sim.engine.dma_engine import MemoryImage
from systoliq.sim.process import SimulationError

STALLS = [(0, 0, 0, 0), (0.3, 0.3, 0.3, 0.3), (0, 0, 0.5, 0.9), (0.8, 0, 0, 0)]


def check(found, jobs, places, outcome):
    results, report = found.finish(jobs, places, outcome)
    for job, y in zip(jobs, results, strict=True):
        np.testing.assert_array_equal(y, golden(job))
    return report


@pytest.mark.sampled(99)
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * ("float8" in name)) for name in CASES])
def test_lists_are_right(name, simulator):
    found = dma_engine(name, simulator)
    given = list(lists_of(found, 5, 4, 3))
    work = [
        found.prepare(jobs, places, image, stalls=stalls, seed=index, limit=200_000)
        for index, ((jobs, places, image), stalls) in enumerate(zip(given, STALLS, strict=True))
    ]
    for (jobs, places, _), outcome in zip(given, found.simulate(work), strict=True):
        check(found, jobs, places, outcome)
        assert outcome.recovered


@pytest.mark.sampled(99)
@pytest.mark.parametrize("name", ["small, 32 bits", "wide, 128 bits"])
def test_nothing_but_results_is_written(name):
    """And no byte beside the matrices of A and B is needed."""
    found = dma_engine(name)
    (jobs, places, image) = next(lists_of(found, 9, 1))
    work = found.prepare(jobs, places, image)
    (outcome,) = found.simulate([work])
    check(found, jobs, places, outcome)
    expected = bytearray(work.memory)
    for job, place, y in zip(jobs, places, map(golden, jobs), strict=True):
        for row in range(job.m):
            at = place.y + row * place.y_stride
            expected[at : at + y[row].nbytes] = y[row].astype(job.y_dtype).tobytes()
    assert outcome.memory == expected


def broken_lists(found, count, seed, chance):
    """Lists, and with this probability one in which an access to memory fails somewhere."""
    rng = random.Random(seed)
    for index, (jobs, places, image) in enumerate(lists_of(found, seed, count, 4)):
        which = rng.choice(["a", "b", "y", "list"]) if rng.random() < chance else None
        work = found.prepare(jobs, places, image, limit=100_000)
        if which == "list":
            at = work.address + rng.randrange(work.length)
        elif which:
            at = getattr(rng.choice(places), which)
        yield jobs, places, which, dataclasses.replace(work, broken=[(at, at + 1)] if which else [], seed=index)


@pytest.mark.sampled(99)
@pytest.mark.parametrize("name", ["small, 32 bits", "wide, 64 bits", "float8, 64 bits"])
@pytest.mark.parametrize("stalls", STALLS[:2])
def test_an_error_of_memory_is_reported_and_the_next_list_is_right(name, stalls):
    found = dma_engine(name)
    given = list(broken_lists(found, 12, 3, 0.5))
    outcomes = found.simulate([dataclasses.replace(work, stalls=stalls) for *_, work in given])
    for (jobs, places, which, _), outcome in zip(given, outcomes, strict=True):
        assert outcome.recovered
        assert not outcome.timed_out
        if which:
            with pytest.raises(SimulationError, match=f"memory answered with an error on .*{which}"):
                found.check(outcome, len(jobs))
        else:
            check(found, jobs, places, outcome)


def test_what_is_wrong_with_a_list_has_a_name():
    """A register that does not exist, a command that is none, a list that is cut off, a job that the engine refuses."""
    found = dma_engine("small, 32 bits")
    (jobs, places, image) = next(lists_of(found, 2, 1))
    words = command_list(jobs, places, found.config, found.bus_bytes).words
    wrong = {
        "REFUSED": [1 << 30 | 0x1FFFFC, 5, *words],
        "COMMAND": [5, *words],
        "CUT_OFF": words[:-1],
    }
    work = []
    for replaced in (*wrong.values(), words):
        own = MemoryImage(0)
        own.data = bytearray(image.data)
        prepared = found.prepare(jobs, places, own)
        data = np.asarray(replaced, "<u4").tobytes()
        memory = bytearray(prepared.memory + bytes(64))
        memory[prepared.address : prepared.address + len(data)] = data
        before = [*prepared.before[:1], (prepared.before[1][0], len(data) - 1), prepared.before[2]]
        work.append(dataclasses.replace(prepared, memory=bytes(memory), before=before, limit=20_000))
    *outcomes, last = found.simulate(work)
    for name, outcome in zip(wrong, outcomes, strict=True):
        with pytest.raises(SimulationError, match=name):
            found.check(outcome, len(jobs))
        assert outcome.recovered
    check(found, jobs, places, last)


def test_a_job_that_the_engine_refuses_is_named():
    """The second of three has no columns of A; the first one's results are in memory."""
    found = dma_engine("small, 32 bits")
    (jobs, places, image) = next(lists_of(found, 4, 1))
    jobs, places = [jobs[0]] * 3, [places[0]] * 3
    work = found.prepare(jobs, places, image)
    words = np.frombuffer(work.memory[work.address :][: work.length], "<u4").copy()
    header = 1 << 30 | Map.of(found.config).register("K").offset
    (_, second, _) = np.flatnonzero(words == header)
    words[second + 1] = 0
    memory = bytearray(work.memory)
    memory[work.address : work.address + work.length] = words.tobytes()
    outcome, last = found.simulate([dataclasses.replace(work, memory=bytes(memory)), work])
    with pytest.raises(ENGINE_ERRORS[ERRORS["ILLEGAL_SHAPE"][0]], match="job 1 of 3"):
        found.check(outcome, 3)
    assert outcome.recovered
    check(found, jobs, places, last)


@pytest.mark.parametrize(
    ("config", "bus_bytes", "message"),
    [
        (SMALL, 5, "bus_bytes must be one of 4, 8, 16, not 5"),
        (SMALL.replace(dataflow="weight-stationary"), 8, "dataflow must be output-stationary"),
        (SMALL.replace(cols=3, lanes=3), 8, "lanes must be a power of two"),
        (SMALL.replace(depth=3), 8, "depth must divide the bus's 8 bytes, not be 3"),
    ],
)
def test_engines_that_cannot_feed_themselves(config, bus_bytes, message):
    with pytest.raises(ValueError, match=message):
        DmaEngine(config, bus_bytes=bus_bytes)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_thousand_lists(name):
    """With random stalls, and an error of memory in about every tenth: right or reported, never hung."""
    found, rng = dma_engine(name), random.Random(11)
    count = -(-1000 // len(CASES))
    given = list(broken_lists(found, count, 100, 0.1))
    work = []
    for *_, each in given:
        stalls = [rng.choice([0, 0, 0.3, 0.7]) for _ in range(4)]
        work.append(dataclasses.replace(each, stalls=stalls, limit=300_000))
    told = 0
    for (jobs, places, which, _), outcome in zip(given, found.simulate(work), strict=True):
        assert outcome.recovered
        assert not outcome.timed_out
        if which:
            told += 1
            with pytest.raises(SimulationError, match="memory answered with an error"):
                found.check(outcome, len(jobs))
        else:
            check(found, jobs, places, outcome)
    assert told >= count // 20
