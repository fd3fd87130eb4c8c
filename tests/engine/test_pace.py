"""Jobs started in the cycle of the interrupt of the one before, their words waiting: right, in the cycles of the model.

The driver writes registers and tables between jobs, and that takes long enough to hide what one job leaves behind.
"""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path

import numpy as np
import pytest
from configurations import WEIGHT, fits, golden, random_job, text
from engines import engine

from systoliq.golden import E4M3FN, E5M2
from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.host import EnginePacking, Map, sequence
from systoliq.sim.cache import run_directory

SIZES = {"a_words": 16, "b_words": 64, "max_columns": 32, "max_rows": 64}
CONFIGS = [
    EngineConfig(rows=8, cols=8, lanes=1, **SIZES),
    EngineConfig(rows=9, cols=12, lanes=3, **SIZES),
    EngineConfig(rows=2, cols=32, lanes=1, depth=2, **SIZES | {"max_columns": 128}),
    EngineConfig(rows=12, cols=1, lanes=1, depth=3, **SIZES),
    EngineConfig(rows=3, cols=12, lanes=1, dataflow=WEIGHT, **SIZES),
    EngineConfig(rows=6, cols=6, lanes=3, depth=2, dataflow=WEIGHT, **SIZES),
    EngineConfig(rows=3, cols=6, lanes=2, a=E4M3FN, b=E5M2, y=E4M3FN, **SIZES),
    EngineConfig(rows=1, cols=2, lanes=2, depth=2, a=E5M2, b=E5M2, y=E5M2, **SIZES),
]
LONG, WIDE, WEIGHTS, FLOAT8 = CONFIGS[0], CONFIGS[1], CONFIGS[4], CONFIGS[6]
RUNS = [
    (LONG, "verilator"),
    *(pytest.param(config, "icarus", marks=pytest.mark.slow) for config in CONFIGS),
    *(pytest.param(config, "verilator", marks=pytest.mark.slow) for config in (WEIGHTS, FLOAT8)),
]
PAUSE = 0.4


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pace:
    status: int
    finished: int
    y: list[bytes]
    first: list[int]
    last: list[int]


def jobs_of(config, shapes, seed):
    """Jobs that share all constants: the first columns of one table."""
    rng = np.random.default_rng(seed)
    widest = random_job(config, rng, 1, 1, max(n for _, _, n in shapes))
    jobs = []
    for m, k, n in shapes:
        assert fits(config, m, k, n, per_row=False)
        job = random_job(config, rng, m, k, n)
        constants = {name: getattr(widest, name, None) for name in ("b_zero_point", "bias", "scale")}
        own = {name: each[:n] for name, each in constants.items() if each is not None}
        operands = {"a": job.a.view(widest.a.dtype), "b": job.b.view(widest.b.dtype)}
        jobs.append(dataclasses.replace(widest, **operands, **own))
    return jobs


def shapes_of(config, rng, count):
    """Whole tiles with hardly any K, and then one element; in turns with anything small."""
    columns = min(3 * config.cols, config.max_columns)
    shapes = []
    for index in range(count):
        if index % 4 == 0:
            shapes.append((2 * config.rows, config.depth, columns))
        elif index % 4 == 1:
            shapes.append((1, 1, 1))
        elif index % 4 == 2:
            shapes.append((1, int(rng.integers(1, 3 * config.depth, endpoint=True)), config.cols))
        else:
            m, k = (int(each) for each in rng.integers(1, (config.rows + 2, 9)))
            shapes.append((m, k, 1))
    return shapes


def run(hardware, jobs, waits, *, pause, seed):
    """Start each job so many cycles after the end of the one before it."""
    config, registers = hardware.config, Map()
    widest = max(jobs, key=lambda job: job.n)
    setup, before = [], {}
    for step in sequence(widest, config):
        if step.action == "fill":
            words = np.frombuffer(step.data, "<u4")
            setup += [(step.address + 4 * index, int(word)) for index, word in enumerate(words)]
        elif step.action == "write" and step.name != "CONTROL":
            setup.append((step.address, step.value))
            before[step.address] = step.value
    work = [hardware.prepare(job, (0, 0, pause), seed + index) for index, job in enumerate(jobs)]
    started = []
    for job, wait, each in zip(jobs, waits, work, strict=True):
        settings = [(step.address, step.value) for step in sequence(job, config) if step.name in ("M", "K", "N")]
        changed = [(address, value) for address, value in settings if before[address] != value]
        before |= dict(changed)
        start = registers.write("CONTROL", start=1)
        started.append(([*changed, (start.address, start.value)], wait, each.limit))
    words = {
        name: [
            (word, int(i == len(each.words[0][name]) - 1))
            for each in work
            for i, word in enumerate(each.words[0][name])
        ]
        for name in ("a", "b")
    }
    case = {"setup": setup, "jobs": started, "words": words, "pause": pause, "seed": seed}
    folder = run_directory()
    (folder / "case.pickle").write_bytes(pickle.dumps(case | {"status": registers.register("STATUS").offset}))
    hardware.simulation.run(
        Path(__file__).parent / "pace_bench.py",
        env={"SYSTOLIQ_PACE": str(folder)},
        directory=folder,
        seed=seed,
    ).check()
    return Pace(**pickle.loads((folder / "outcome.pickle").read_bytes()))


def check(config, simulator, shapes, waits, *, pause=0.0, seed=0):
    hardware = engine(config, simulator)
    jobs = jobs_of(config, shapes, seed)
    outcome = run(hardware, jobs, waits, pause=pause, seed=seed)
    assert not Map().extract("STATUS", "error", outcome.status), (config, hex(outcome.status))
    for index, job in enumerate(jobs):
        where = f"{config}, job {index} of seed {seed}, started {waits[index]} cycles after the one before: {text(job)}"
        assert index < outcome.finished, f"{where}: no end"
        y = EnginePacking(config).unpack_y(outcome.y[index], job.m, job.n, job.y_dtype)
        np.testing.assert_array_equal(y, golden(job), err_msg=where)
        cycles = outcome.last[index] - outcome.first[index] + 1
        model = hardware.hardware.cycles(hardware.shape(job))
        assert cycles >= model if pause else cycles == model, f"{where}: {cycles} cycles, not {model}"
    assert len(outcome.y) == outcome.finished == len(jobs)


def name(each):
    if isinstance(each, str | float):
        return str(each)
    kind = each.a.name if each.float8 else each.dataflow
    return f"{each.rows}x{each.cols}x{each.depth}-{each.lanes}-{kind}"


@pytest.mark.sampled(99)
@pytest.mark.simulator
@pytest.mark.parametrize("pause", [0.0, PAUSE])
@pytest.mark.parametrize(("config", "simulator"), RUNS, ids=name)
def test_at_once(simulator, config, pause):
    """In the very first cycle: only what changed of M, K and N is written."""
    shapes = shapes_of(config, np.random.default_rng(0), 12)
    check(config, simulator, shapes, [0] * len(shapes), pause=pause)


@pytest.mark.simulator
@pytest.mark.parametrize(("config", "simulator"), RUNS, ids=name)
def test_the_same_again(simulator, config):
    """The same shape again and again: nothing but the start is written."""
    for index, shape in enumerate([(1, 1, 1), (config.rows + 1, config.depth + 1, config.cols), (1, 2, 1)]):
        check(config, simulator, [shape] * 6, [0] * 6, seed=index)


@pytest.mark.simulator
@pytest.mark.parametrize(
    ("config", "simulator"),
    [(LONG, "verilator"), pytest.param(WIDE, "icarus", marks=pytest.mark.slow), (FLOAT8, "icarus")],
    ids=name,
)
def test_at_any_cycle_of_the_drain(simulator, config):
    """A tiny job so many cycles after a long one, and the other way round, for every number of cycles of a drain."""
    waits = [wait for wait in range(0, config.drain_cycles + 4, 3) for _ in range(2)]
    shapes = [(config.rows, 1, config.cols), (1, 1, 1)] * (len(waits) // 2)
    check(config, simulator, shapes, waits)
