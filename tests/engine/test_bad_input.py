"""Every error in engines of every kind, with and without stalls; after each the engine is cleared and runs a job right.

`test_faults` looks at one engine from all sides; here are the corners of its size.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from configurations import LEAST, WEIGHT, fits, golden, random_job, text
from engines import engine

from systoliq.hw.engine import ERRORS, EngineConfig
from systoliq.sim.engine import ENGINE_ERRORS

SIZES = {"a_words": 8, "b_words": 16, "max_columns": 32, "max_rows": 16}
CONFIGS = {
    "one row": EngineConfig(rows=1, cols=4, lanes=2, **SIZES),
    "one column": EngineConfig(rows=4, cols=1, lanes=1, **SIZES),
    "one lane": EngineConfig(rows=4, cols=16, lanes=1, **SIZES),
    "depth 4": EngineConfig(rows=3, cols=6, lanes=3, depth=4, **SIZES),
    "least": EngineConfig(rows=2, cols=1, lanes=1, **LEAST),
    "weights, one row": EngineConfig(rows=1, cols=6, lanes=3, dataflow=WEIGHT, **SIZES),
    "weights, one lane": EngineConfig(rows=3, cols=8, lanes=1, depth=2, dataflow=WEIGHT, **SIZES),
    "weights, least": EngineConfig(rows=2, cols=1, lanes=1, depth=4, dataflow=WEIGHT, **LEAST),
}


def good_job(config, rng):
    """Two words or more of each operand, ragged where the engine is large enough."""
    k = 2 * config.depth * (config.rows if config.dataflow == WEIGHT else 1)
    job = random_job(config, rng, min(config.rows + 1, config.max_rows), k, min(config.cols + 1, config.max_columns))
    return dataclasses.replace(job, a_zero_point=job.a_zero_point[:1])


def per_row(job):
    return dataclasses.replace(job, a_zero_point=np.resize(job.a_zero_point, job.m))


def refused_jobs(config, rng):
    """For each error that the engine's sizes make: jobs beyond them, by one."""

    def draw(m, k, n):
        assert not fits(config, m, k, n, per_row=False)
        return random_job(config, rng, m, k, n)

    chunk = config.depth * (config.rows if config.dataflow == WEIGHT else 1)
    wide = config.cols + 1
    jobs = {
        "TOO_MANY_COLUMNS": [draw(1, 1, config.max_columns + 1)],
        "A_TOO_LARGE": [draw(1, config.a_words * chunk + 1, wide)] if wide <= config.max_columns else [],
    }
    if config.dataflow == WEIGHT:
        jobs["TOO_MANY_ROWS"] = [draw(config.max_rows + 1, 1, 1), draw(config.max_rows + 1, 2 * chunk, 1)]
        if wide <= config.max_columns:
            jobs["A_TOO_LARGE"].append(draw(2, config.a_words // 2 * chunk + 1, wide))
    else:
        jobs["TOO_MANY_ROWS"] = [per_row(random_job(config, rng, config.max_rows + 1, 1, 1))]
        jobs["B_TOO_LARGE"] = [draw(config.rows + 1, config.b_words * config.depth + 1, 1)]
    return jobs


def broken_works(work):
    """For each error that the streams make, and for each register that must not be 0."""

    def register(name):
        return dataclasses.replace(
            work, steps=[(*step[:3], 0, step[4]) if step[1] == name else step for step in work.steps]
        )

    def words(name, change):
        return dataclasses.replace(work, words=[work.words[0] | {name: change(work.words[0][name])}])

    broken = {"ILLEGAL_SHAPE": [register(name) for name in ("M", "K", "N")]}
    for name in ("a", "b"):
        assert len(work.words[0][name]) > 1
        broken[f"{name.upper()}_ENDED_EARLY"] = [
            words(name, lambda given: given[:-1]),
            words(name, lambda given: given[:1]),
        ]
        broken[f"{name.upper()}_ENDED_LATE"] = [words(name, lambda given: [*given, 0])]
    return broken


@pytest.mark.sampled(99)
@pytest.mark.simulator
@pytest.mark.parametrize("stalls", [(0.0, 0.0, 0.0), (0.3, 0.3, 0.6)], ids=["unstalled", "stalled"])
@pytest.mark.parametrize(
    ("kind", "simulator"), [*((kind, "icarus") for kind in CONFIGS), ("weights, one lane", "verilator")]
)
def test_every_error(simulator, kind, stalls):
    config = CONFIGS[kind]
    hardware = engine(config, simulator)
    rng = np.random.default_rng(len(kind))
    good = good_job(config, rng)
    assert fits(config, good.m, good.k, good.n, per_row=False), text(good)
    work = hardware.prepare(good)
    cases = []  # (job, work, the error's name)
    for name, jobs in refused_jobs(config, rng).items():
        cases += [(job, hardware.prepare(job, stalls, seed), name) for seed, job in enumerate(jobs)]
    for name, broken in broken_works(hardware.prepare(good, stalls)).items():
        cases += [(good, each, name) for each in broken]
    named = {name for _, _, name in cases} | {"QUEUE_FULL"}  # the bench of test_faults has that one
    if config.dataflow == WEIGHT:
        named |= {"B_TOO_LARGE"}  # B passes through
    if config.cols >= config.max_columns:
        named |= {"A_TOO_LARGE"}
    assert named == set(ERRORS)

    outcomes = hardware.simulate([each for _, bad, _ in cases for each in (bad, work)])
    for (job, bad, name), refused, after in zip(cases, outcomes[::2], outcomes[1::2], strict=True):
        with pytest.raises(ENGINE_ERRORS[ERRORS[name][0]]):
            hardware.finish(job, bad, refused)
        y, report = hardware.finish(good, work, after)
        where = f"{config}, after {name} in {text(job)}"
        np.testing.assert_array_equal(y, golden(good), err_msg=where)
        assert report.cycles == report.model_cycles, where
