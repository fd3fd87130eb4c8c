"""The core's cycles: those of a job alone, and of jobs one behind the other, in both dataflows and of float8."""

from __future__ import annotations

import numpy as np
import pytest
from configurations import WEIGHT, golden, random_job
from engines import FLOAT8, SMALL, engine

AMPLE = SMALL.replace(a_words=256, b_words=256)
CONFIGS = {
    "weight-stationary": AMPLE.replace(dataflow=WEIGHT),  # test_queue.py begins with the other dataflow
    "output-stationary": AMPLE,
    "float8": FLOAT8.replace(a_words=256, b_words=256),
}
SHAPES = [(9, 90, 7), (11, 80, 7), (10, 85, 7)]  # each longer than it takes to write the next one's settings


@pytest.mark.sampled(99)
@pytest.mark.simulator
@pytest.mark.parametrize("name", CONFIGS)
def test_jobs_alone_and_in_a_queue_take_the_cycles_of_the_model(name):
    config = CONFIGS[name]
    rng = np.random.default_rng(5)
    jobs = [random_job(config, rng, *shape) for shape in SHAPES]
    made = engine(config, "icarus")
    ((y, report),) = made.run_jobs(jobs[:1])
    np.testing.assert_array_equal(y, golden(jobs[0]))
    assert report.cycles == made.hardware.cycles(made.shape(jobs[0]))
    results, queued = made.run_queue(jobs)
    for job, result in zip(jobs, results, strict=True):
        np.testing.assert_array_equal(result, golden(job))
    assert queued.cycles == made.hardware.queue_cycles([made.shape(job) for job in jobs])
