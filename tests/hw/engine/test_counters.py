"""The counters: the cycles of a job and those lost in it, counted again in Python."""

from __future__ import annotations

import random

import pytest

from systoliq.hw.engine.counters import Counters

from ..bench import trace

SETTLED = 3


def job(rng, cycles, waits):
    """(lines, counts): `start`, some wait, words taken up to the last beat of Y."""
    lines = [{"start": 1}] + [{"start": 0} for _ in range(waits)]
    counts = {"cycles": 0, "input_stalls": 0, "output_stalls": 0}
    for cycle in range(cycles):
        line = {
            "taken": cycle == 0 or rng.random() < 0.5,
            "ended": cycle == cycles - 1,
            "input_stall": rng.random() < 0.3,
            "output_stall": rng.random() < 0.3,
        }
        lines.append(line | {"start": 0})
        counts["cycles"] += 1
        counts["input_stalls"] += line["input_stall"]
        counts["output_stalls"] += line["output_stall"]
    idle = {"start": 0, "taken": 0, "ended": 0, "input_stall": 0, "output_stall": 0}
    return lines + [dict(idle) for _ in range(SETTLED)], counts


@pytest.mark.parametrize("seed", range(4))
def test_counts_of_job_after_job(seed):
    rng = random.Random(seed)
    stimulus, checks = [], {}
    for _ in range(6):
        lines, counts = job(rng, rng.choice([1, 2, 3, 30]), rng.choice([1, 2, 9]))
        stimulus += lines
        checks[len(stimulus) - 1] = counts
        stimulus += [{"input_stall": rng.random() < 0.5} for _ in range(5)] + [{"input_stall": 0}] * 2
        checks[len(stimulus) - 1] = counts  # nothing is counted between jobs
    shown = trace(Counters(), stimulus)
    for cycle, counts in checks.items():
        assert shown[cycle] == counts, cycle


@pytest.mark.parametrize("how", ["clear", "rst"])
def test_clear_and_reset_end_a_job(how):
    lines = [{"start": 1}, {"start": 0, "taken": 1}, {"taken": 0}, {}, {how: 1, "taken": 0}, {how: 0}]
    shown = trace(Counters(), lines + [{}] * 8)
    assert shown[-1]["cycles"] == shown[-4]["cycles"] < 8
    again, counts = job(random.Random(1), 7, 2)
    assert trace(Counters(), lines + [{}] * 8 + again)[-1] == counts
