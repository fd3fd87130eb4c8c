"""A million outputs of large jobs, back to back on engines of all kinds, none of them wrong."""

from __future__ import annotations

import numpy as np
import pytest
from configurations import fits, random_job
from soak import Tally, run

from systoliq.golden import E4M3FN, E5M2
from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.host import Job

OUTPUTS = 1_000_000
ROWS, COLUMNS = 256, 128  # of a job at the most; three quarters of both at the least
JOBS = 12  # on each engine: a third of them without stalls, a third with some, a third with one stream stalled hard
CONFIGS = (
    EngineConfig(rows=8, cols=8, depth=2, lanes=8),
    EngineConfig(rows=4, cols=12, lanes=3, max_columns=128),
    EngineConfig(rows=8, cols=8, lanes=8, dataflow="weight-stationary"),
    EngineConfig(rows=4, cols=8, lanes=4, a=E4M3FN, b=E5M2, y=E4M3FN),
)


def large_jobs(config: EngineConfig, rng: np.random.Generator, count: int) -> list[Job]:
    """Jobs of many groups and tiles, whose K is as the buffers allow."""
    jobs = []
    while len(jobs) < count:
        m, n = (int(rng.integers(3 * most // 4, most, endpoint=True)) for most in (ROWS, COLUMNS))
        k = int(rng.integers(1, 64))
        if fits(config, m, k, n, per_row=False):
            jobs.append(random_job(config, rng, m, k, n))
    return jobs


@pytest.mark.slow
@pytest.mark.simulator
def test_a_million_outputs_are_right():
    runs = (run(config, "verilator", seed=16, jobs=JOBS, draw=large_jobs) for config in CONFIGS)
    total = sum(runs, Tally())
    assert not total.faults, total.faults[:6]
    assert (total.wrong, total.off, total.violations) == (0, 0, 0)
    assert total.outputs >= OUTPUTS
