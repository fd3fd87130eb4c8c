"""Engines of all kinds run random jobs back to back: bit for bit, and unstalled in the cycles of the model.

The long run is `-m slow`; SYSTOLIQ_SOAK="seed configurations jobs" chooses another one.
"""

from __future__ import annotations

import itertools
import os

import numpy as np
import pytest
from configurations import (
    ALL_KINDS,
    OUTPUT,
    WEIGHT,
    configurations,
    draw,
    fits,
    golden,
    kinds,
    random_job,
    random_jobs,
    text,
)
from engines import engine
from soak import describe, run, runs

from systoliq.golden import E4M3FN, E5M2
from systoliq.hw.cells import CELLS
from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.drain_control import DrainControl
from systoliq.hw.engine.output_stationary import OutputStationary
from systoliq.hw.engine.weight_stationary import WeightStationary

from ..support.simulators import icarus_first

SEED, CONFIGURATIONS, JOBS = (int(each) for each in os.environ.get("SYSTOLIQ_SOAK", "1 48 2400").split())
SIZES = {"a_words": 16, "b_words": 64, "max_columns": 32, "max_rows": 64}
LONG_DRAINS = [  # rows * interval results of a lane, after a few beats
    (EngineConfig(rows=8, cols=8, lanes=1, **SIZES), "verilator"),
    pytest.param(EngineConfig(rows=9, cols=12, lanes=3, **SIZES), "icarus", marks=pytest.mark.slow),
    (EngineConfig(rows=32, cols=2, lanes=1, **SIZES), "verilator"),
    pytest.param(
        EngineConfig(rows=2, cols=32, lanes=1, **SIZES | {"a_words": 4, "b_words": 4, "max_columns": 128}),
        "icarus",
        marks=pytest.mark.slow,
    ),
    (EngineConfig(rows=3, cols=12, lanes=1, depth=4, dataflow=WEIGHT, **SIZES), "verilator"),
    (EngineConfig(rows=6, cols=6, lanes=2, dataflow=WEIGHT, **SIZES | {"b_words": 4}), "icarus"),
]


def check(config, simulator, seed, jobs):
    tally = run(config, simulator, seed=seed, jobs=jobs)
    assert not tally.faults, describe(config, simulator, seed, jobs, tally)
    assert tally.jobs == jobs
    assert tally.outputs >= jobs
    assert (tally.wrong, tally.off, tally.violations) == (0, 0, 0)


@pytest.mark.slow  # test_pace.py has jobs at any cycle of a drain
@pytest.mark.simulator
@pytest.mark.parametrize(
    ("config", "simulator"),
    LONG_DRAINS,
    ids=lambda each: each if isinstance(each, str) else f"{each.rows}x{each.cols}-{each.lanes}-{each.dataflow}",
)
def test_long_drains(config, simulator):
    check(config, simulator, seed=0, jobs=15)


FLOAT8 = {"a": E4M3FN, "b": E5M2, "y": E4M3FN}


@pytest.mark.sampled(99)
@pytest.mark.simulator
@pytest.mark.parametrize(
    "kind",
    [{"dataflow": OUTPUT}, {"dataflow": WEIGHT}, FLOAT8],
    ids=["output-stationary", "weight-stationary", "float8"],
)
@pytest.mark.parametrize("cells", CELLS)
def test_every_set_of_cells(cells, kind):
    check(EngineConfig(rows=2, cols=2, lanes=1, **kind, cells=cells, **SIZES), "icarus", seed=3, jobs=8)


@pytest.mark.sampled(99)
@pytest.mark.simulator
@pytest.mark.parametrize("depth", [1, 2])
def test_sums_that_are_there_before_their_drain_wait(depth):
    """No array is quicker than that of ECP5's adders; its drain needs longer to be announced."""
    check(EngineConfig(rows=1, cols=1, depth=depth, lanes=1, cells="ecp5-alu", **SIZES), "icarus", seed=3, jobs=8)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("cells", CELLS)
def test_no_drain_is_announced_late(cells):
    for depth, rows, cols in itertools.product((1, 2, 3, 5, 8), (1, 2, 9), (1, 2, 9)):
        for kind in ({"dataflow": OUTPUT}, {"dataflow": WEIGHT}, FLOAT8):
            config = EngineConfig(rows=rows, cols=cols, depth=depth, lanes=1, **kind, cells=cells, **SIZES)
            flow = WeightStationary(config) if kind == {"dataflow": WEIGHT} else OutputStationary(config)
            assert flow.drain_start() >= DrainControl.latency_of(config), config


@icarus_first
def test_chunks_shorter_than_a_row_drains(simulator):
    """The last chunk of K must wait for the results of the tile before, although the first one goes at full rate."""
    config = EngineConfig(rows=3, cols=8, lanes=1, depth=2, dataflow=WEIGHT, **SIZES)
    rng = np.random.default_rng(0)
    jobs = [random_job(config, rng, m, 12, 9) for m in (1, 2, 3, 4, 5, 6, 7)]
    for job, (y, report) in zip(jobs, engine(config, simulator).run_jobs(jobs), strict=True):
        np.testing.assert_array_equal(y, golden(job))
        assert report.cycles == report.model_cycles, text(job)


@pytest.mark.soak
@pytest.mark.simulator
@pytest.mark.parametrize(
    ("config", "simulator", "seed", "jobs"),
    [
        pytest.param(*each, id=f"{SEED}-{index}-{each[1]}")
        for index, each in enumerate(runs(SEED, CONFIGURATIONS, JOBS))
    ],
)
def test_soak(config, simulator, seed, jobs):
    check(config, simulator, seed, jobs)


def test_soak_is_as_long_as_it_says():
    plan = runs(1, 48, 2400)
    assert sum(jobs for _, _, _, jobs in plan) >= 2000
    assert len({config for config, simulator, _, _ in plan if simulator == "verilator"}) == 48
    assert len({config for config, simulator, _, _ in plan if simulator == "icarus"}) == 24
    dataflows = {config.dataflow for config, simulator, _, _ in plan if simulator == "icarus"}
    assert dataflows == {OUTPUT, WEIGHT}


@pytest.mark.parametrize("seed", range(8))
def test_forty_configurations_are_of_all_kinds(seed):
    assert set().union(*map(kinds, configurations(seed, 40))) == ALL_KINDS


@pytest.mark.slow
def test_all_divisors_have_their_share():
    rng = np.random.default_rng(0)
    drawn = [draw(rng, OUTPUT) for _ in range(3000)]
    for cols in (6, 9, 12, 16):
        lanes = {config.lanes for config in drawn if config.cols == cols}
        assert lanes == {each for each in range(1, cols + 1) if not cols % each}


def test_jobs_fit_and_reach_the_edges():
    rng = np.random.default_rng(0)
    for config in configurations(0, 40):
        jobs = random_jobs(config, rng, 80)
        for job in jobs:
            assert fits(config, job.m, job.k, job.n, per_row=len(job.a_zero_point) > 1)
        assert {job.a.dtype.name for job in jobs} == {job.b.dtype.name for job in jobs} == {"int8", "uint8"}
        assert any(job.scale is None for job in jobs)
        assert any(len(job.a_zero_point) > 1 for job in jobs)
        assert any(job.n == config.max_columns or job.n > config.cols for job in jobs), config
        assert any(job.k % config.depth for job in jobs) or config.depth == 1
