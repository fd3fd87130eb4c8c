"""The steps of queued jobs: their tables stand beside each other, and none is written while a job uses it."""

from __future__ import annotations

import numpy as np

from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.host import Job, Map, queue_sequence

TIGHT = EngineConfig(rows=2, cols=3, lanes=3, a_words=8, b_words=16, max_columns=8, max_rows=4)


def job(rng, m, n, *, per_row=False):
    return Job(
        a=np.zeros((m, 2), np.int8),
        b=np.zeros((2, n), np.int8),
        a_zero_point=rng.integers(-9, 9, m if per_row else 1).astype(np.int8),
        b_zero_point=np.zeros(n, np.int8),
        bias=rng.integers(-99, 99, n).astype(np.int32),
    )


def drawn(seed, count):
    """Random jobs, every third one twice."""
    rng = np.random.default_rng(seed)
    shapes = [(int(rng.integers(1, 5)), int(rng.integers(1, 9)), bool(rng.integers(2))) for _ in range(count)]
    jobs = [job(rng, m, n, per_row=per_row and m > 1) for m, n, per_row in shapes]
    return [each for index, each in enumerate(jobs) for _ in range(1 + (index % 3 == 2))]


def test_tables_are_written_once_for_jobs_that_share_them():
    one = job(np.random.default_rng(1), 3, 5, per_row=True)
    alone, twice = (queue_sequence([one] * count, TIGHT) for count in (1, 2))
    fills = [[step for step in steps if step.action == "fill"] for steps in (alone, twice)]
    assert fills[0] == fills[1] != []


def test_entries_in_use_are_not_written():
    """Each stretch is written after all jobs whose tables stood there have ended, and no end is waited for too soon."""
    jobs = drawn(9, 30)
    ended, users, started = 0, {}, 0
    for step in queue_sequence(jobs, TIGHT):
        if step.action == "jobs":
            assert step.value <= started
            ended = max(ended, step.value)
        elif step.action == "fill":
            for address in range(step.address, step.address + len(step.data), 4):
                assert users.get(address, -1) < ended
        elif (step.action, step.name) in (("write", "M"), ("write", "N")):
            first = step.value >> 16
            table = Map().column_table if step.name == "N" else Map().row_table
            used = _entries(jobs[started], table.name, first)
            users |= dict.fromkeys(used, started)
        started += (step.action, step.name, step.value) == ("write", "CONTROL", 1)
    assert started == len(jobs)


def test_a_job_without_zero_points_of_rows_has_no_rows_of_the_table():
    one = job(np.random.default_rng(1), 3, 5)
    steps = queue_sequence([one] * 3, TIGHT)
    assert {step.value for step in steps if (step.action, step.name) == ("write", "M")} == {3}
    assert not [step for step in steps if step.action == "jobs" and step.value == 0]


def _entries(job, table, first):
    """Addresses of the words of a job of `TIGHT`."""
    if table == "ROW_TABLE":
        rows = job.m if len(job.a_zero_point) > 1 else 0
        return [0x80000 + 4 * ((first + m) % TIGHT.max_rows) for m in range(rows)]
    entries = [((first + n // 3) % TIGHT.table_words) * 4 + n % 3 for n in range(job.n)]
    return [0x100000 + 16 * entry + 4 * word for entry in entries for word in range(4)]


def test_each_job_finds_its_own_entries():
    """What stands in the tables when a job is started, until it has ended, is what it needs."""
    jobs = drawn(4, 40)
    memory, started = {}, 0
    for step in queue_sequence(jobs, TIGHT):
        if step.action == "fill":
            words = np.frombuffer(step.data, "<u4")
            memory |= {step.address + 4 * i: int(word) for i, word in enumerate(words)}
        elif step.action == "write" and step.name in ("M", "N"):
            first, each = step.value >> 16, jobs[started]
            if step.name == "N":
                at = [((first + n // 3) % TIGHT.table_words) * 4 + n % 3 for n in range(each.n)]
                assert [memory[0x100000 + 16 * entry] for entry in at] == [int(bias) & 0xFFFFFFFF for bias in each.bias]
            elif len(each.a_zero_point) > 1:
                at = [(first + m) % TIGHT.max_rows for m in range(each.m)]
                assert [memory[0x80000 + 4 * entry] for entry in at] == [int(zero) & 0xFF for zero in each.a_zero_point]
        started += (step.action, step.name, step.value) == ("write", "CONTROL", 1)
    assert started == len(jobs)
