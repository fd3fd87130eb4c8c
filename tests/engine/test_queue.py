"""Jobs that are queued: each is right, in order, whatever stalls, and what one does is never another one's."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from configurations import cost, fits, golden, random_jobs
from engines import FLOAT8, LONG_DRAIN, RAGGED, SMALL, STATIONARY, TIGHT, engine
from operations import values

from systoliq.hw.cells import CELLS
from systoliq.hw.engine import ERRORS, EngineConfig
from systoliq.hw.engine.host import Job, Map
from systoliq.sim.engine import ENGINE_ERRORS

LONG = LONG_DRAIN.replace(b_words=128, max_columns=32)
NARROW = EngineConfig(rows=7, cols=2, lanes=1, depth=3, a_words=32, b_words=128, max_columns=32, max_rows=32)
WIDE = STATIONARY.replace(max_rows=32, a_words=64)
COLUMNS, MOST_ROWS = 7, 64
CONFIGS = [SMALL, RAGGED, FLOAT8, TIGHT, STATIONARY, LONG_DRAIN]
NAMES = ["small", "ragged", "float8", "tight", "stationary", "long drain"]
STALLS = [(0, 0, 0), (0.3, 0.1, 0.5), (0, 0, 0.9), (0.8, 0, 0)]


def drawn(config, seed, count):
    """Jobs that fit, every third one twice: the two share their tables."""
    jobs = random_jobs(config, np.random.default_rng(seed), count)
    return [job for index, job in enumerate(jobs) for _ in range(1 + (index % 3 == 2))]


@pytest.mark.sampled(99)
@pytest.mark.parametrize("stalls", STALLS)
@pytest.mark.parametrize("config", CONFIGS, ids=NAMES)
def test_queued_jobs_are_right(config, stalls, simulator):
    jobs = drawn(config, 7, 12)
    results, _ = engine(config, simulator).run_queue(jobs, stalls=stalls, seed=3)
    for job, y in zip(jobs, results, strict=True):
        np.testing.assert_array_equal(y, golden(job))


@pytest.mark.sampled(99)
@pytest.mark.parametrize("config", [SMALL, LONG, NARROW, WIDE], ids=["small", "long drain", "narrow", "stationary"])
def test_queue_takes_the_cycles_of_the_model(config):
    """Jobs longer than it takes to write the next one's settings, of which there are two kinds of tables."""
    rng = np.random.default_rng(2)
    jobs: list[Job] = []
    while len(jobs) < 10:
        m, k = (int(rng.integers(1, most + 1)) for most in (MOST_ROWS, 32))
        if fits(config, m, k, COLUMNS, per_row=False) and cost(config, m, k, COLUMNS) > 200:
            jobs.append(
                Job(
                    a=values(rng, np.uint8, (m, k)),
                    b=values(rng, np.int8, (k, COLUMNS)),
                    a_zero_point=np.uint8([3]),
                    b_zero_point=np.zeros(COLUMNS, np.int8),
                    bias=np.zeros(COLUMNS, np.int32),
                    scale=np.full(COLUMNS, 0.001, np.float32) if len(jobs) % 3 else None,
                )
            )
    hardware = engine(config)
    results, report = hardware.run_queue(jobs)
    for job, y in zip(jobs, results, strict=True):
        np.testing.assert_array_equal(y, golden(job))
    assert report.cycles == hardware.hardware.queue_cycles([hardware.shape(job) for job in jobs])


@pytest.mark.slow
@pytest.mark.parametrize("cells", [name for name in CELLS if name != "portable"])
@pytest.mark.parametrize("config", [SMALL, STATIONARY], ids=["output", "weight"])
def test_queued_jobs_are_right_on_all_cells(config, cells):
    jobs = drawn(config, 8, 16)
    found = engine(config.replace(cells=cells))
    for stalls in STALLS[:2]:
        results, _ = found.run_queue(jobs, stalls=stalls, seed=5)
        for job, y in zip(jobs, results, strict=True):
            np.testing.assert_array_equal(y, golden(job))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("bad", [0, 1, 4])
@pytest.mark.parametrize("error", ["ILLEGAL_SHAPE", "TOO_MANY_COLUMNS", "A_ENDED_EARLY", "B_ENDED_LATE"])
def test_error_names_its_job_and_those_before_are_right(bad, error, small):
    jobs = random_jobs(SMALL, np.random.default_rng(bad), 5)
    jobs[bad] = next(
        job for job in random_jobs(SMALL, np.random.default_rng(10 + bad), 40) if job.m > 4 and job.k > 4 and job.n > 4
    )
    work = small.prepare_queue(jobs)
    if error in ("ILLEGAL_SHAPE", "TOO_MANY_COLUMNS"):
        register, value = ("K", 0) if error == "ILLEGAL_SHAPE" else ("N", SMALL.max_columns + 1)
        places = [index for index, step in enumerate(work.steps) if step[:2] == ("write", register)]
        steps = list(work.steps)
        steps[places[bad]] = (*steps[places[bad]][:3], value, b"")
        work = dataclasses.replace(work, steps=steps)
    else:
        name, change = error[0].lower(), (lambda words: words[:1]) if error == "A_ENDED_EARLY" else _longer
        words = [*work.words]
        words[bad] = words[bad] | {name: change(words[bad][name])}
        work = dataclasses.replace(work, words=words)
    (outcome, after) = small.simulate([work, small.prepare_queue(jobs[:bad] + jobs[bad + 1 :])])
    assert Map().extract("STATUS", "jobs", outcome.registers["STATUS"]) == bad
    with pytest.raises(ENGINE_ERRORS[ERRORS[error][0]], match=f"job {bad} of 5"):
        small.finish_queue(jobs, work, outcome)
    before = dataclasses.replace(outcome, registers=outcome.registers | {"STATUS": bad << 16, "BUSY_CYCLES": 0})
    before.frames = outcome.frames[:bad]
    if bad:
        for job, y in zip(jobs[:bad], small.finish_queue(jobs[:bad], work, before)[0], strict=True):
            np.testing.assert_array_equal(y, golden(job))
    rest = jobs[:bad] + jobs[bad + 1 :]
    for job, y in zip(rest, small.finish_queue(rest, work, after)[0], strict=True):
        np.testing.assert_array_equal(y, golden(job))


def _longer(words):
    return [*words, 0]


def test_no_job_is_refused(small):
    with pytest.raises(ValueError, match="jobs must be one at least"):
        small.run_queue([])
