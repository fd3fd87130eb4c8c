"""Queued jobs of which one has a stream that ends wrongly: the error is that job's, whatever waits, and no other's."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from configurations import golden, random_jobs
from engines import LONG_DRAIN, SMALL, STATIONARY, TIGHT, engine

from systoliq.hw.engine import ERRORS
from systoliq.hw.engine.host import Map

STALLS = [(0, 0, 0), (0.3, 0.1, 0.5), (0, 0.85, 0), (0.8, 0, 0), (0, 0, 0.9)]
CONFIGS = {"small": SMALL, "tight": TIGHT, "long drain": LONG_DRAIN, "weight-stationary": STATIONARY}


@dataclasses.dataclass
class Case:
    """A queue of four jobs; the stream `name` of number `bad` ends too early, or too late."""

    jobs: list
    bad: int
    name: str
    kind: str
    work: object


def cases(found, count):
    """`count` queues at random, of which some cannot end earlier."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        jobs = random_jobs(found.config, rng, 4)
        bad, name, kind = int(rng.integers(0, 3)), rng.choice(["a", "b"]), rng.choice(["EARLY", "LATE"])
        work = found.prepare_queue(jobs, stalls=STALLS[rng.integers(len(STALLS))], seed=seed)
        words = [*work.words]
        given = words[bad][name]
        if kind == "EARLY" and len(given) < 2:
            continue
        last = len(given) - 1 if rng.random() < 0.5 else int(rng.integers(1, max(len(given), 2)))
        words[bad] = words[bad] | {name: given[:last] if kind == "EARLY" else [*given, 0]}
        yield Case(jobs, bad, name, kind, dataclasses.replace(work, words=words))


def check(config, count):
    found = engine(config)
    given = list(cases(found, count))
    after = [found.prepare_queue(case.jobs[case.bad + 1 :]) for case in given]
    outcomes = found.simulate([work for case, rest in zip(given, after, strict=True) for work in (case.work, rest)])
    for case, outcome, of_rest, work in zip(given, outcomes[::2], outcomes[1::2], after, strict=True):
        status = outcome.registers["STATUS"]
        assert not outcome.timed_out
        assert Map().extract("STATUS", "error", status) == ERRORS[f"{case.name.upper()}_ENDED_{case.kind}"][0]
        assert Map().extract("STATUS", "jobs", status) == case.bad
        before, rest = case.jobs[: case.bad], case.jobs[case.bad + 1 :]
        if before:
            registers = outcome.registers | {"STATUS": case.bad << 16, "BUSY_CYCLES": 0}
            ended = dataclasses.replace(outcome, registers=registers)
            ended.frames = outcome.frames[: case.bad]
            same(before, found.finish_queue(before, case.work, ended)[0])
        same(rest, found.finish_queue(rest, work, of_rest)[0])


def same(jobs, results):
    for job, y in zip(jobs, results, strict=True):
        np.testing.assert_array_equal(y, golden(job))


@pytest.mark.simulator
def test_the_error_is_that_of_its_job():
    check(SMALL, 40)


@pytest.mark.slow
@pytest.mark.parametrize("name", CONFIGS)
def test_many_errors_are_those_of_their_jobs(name):
    check(CONFIGS[name], 200)
