"""Engines and jobs of all kinds from a seed: corners on purpose, the rest at random.

`ALL_KINDS` names what a set of configurations must hold at least once.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
from float8_operations import Codes, random_float8_job
from operations import values

from systoliq.golden import INT8, UINT8, matmul_integer, requantize_float32
from systoliq.hw.cells import CELLS
from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.config import DATAFLOWS
from systoliq.hw.engine.host import Job

LEAST = {"a_words": 4, "b_words": 4, "max_columns": 2, "max_rows": 2}
AMPLE = {"a_words": 64, "b_words": 256, "max_columns": 128, "max_rows": 64}
LONGEST_JOB = 2500  # cycles, about
FAILING_CELLS: tuple[str, ...] = ()  # sets of cells that the engine cannot be made of yet

OUTPUT, WEIGHT = DATAFLOWS
KINDS: dict[str, Callable[[EngineConfig], bool]] = {
    "one row": lambda config: config.rows == 1 < config.cols,
    "one column": lambda config: config.cols == 1 < config.rows,
    "one element": lambda config: config.rows == config.cols == 1,
    "all lanes": lambda config: config.lanes == config.cols > 1,
    "one lane": lambda config: config.lanes == 1 < config.interval,
    "lanes not a power of two": lambda config: config.lanes & (config.lanes - 1) > 0,
    "interval of 32": lambda config: config.interval == 32,
    "depth 4": lambda config: config.depth == 4,
    "32 rows": lambda config: config.rows == 32,
    "32 columns": lambda config: config.cols == 32,
    "least buffers and tables": lambda config: all(getattr(config, name) == size for name, size in LEAST.items()),
    "least buffers": lambda config: config.a_words == config.b_words == 4 and config.max_columns > config.cols,
    "ample": lambda config: config.a_words >= 64 and config.max_columns >= 2 * config.cols,
    "vendor cells": lambda config: config.cells != "portable",
    "portable": lambda config: config.cells == "portable",
}
DRAINS = (1, 2, 4, 8, 16, 32, 64, 128)  # rows * interval, each up to twice that


def kinds(config: EngineConfig) -> set[str]:
    """Which kinds the configuration is of."""
    found = {f"{name}, {config.dataflow}" for name, holds in KINDS.items() if holds(config)}
    drain = 1 << (config.rows * config.interval).bit_length() - 1
    return found | ({f"drain of {drain}"} if config.dataflow == OUTPUT and drain in DRAINS else set())


ALL_KINDS = {f"{name}, {dataflow}" for name in KINDS for dataflow in DATAFLOWS} | {f"drain of {low}" for low in DRAINS}

# rows, cols, lanes, depth, sizes: each for both dataflows
CORNERS = [
    (1, 1, 1, 1, LEAST),
    (1, 1, 1, 4, AMPLE),
    (1, 32, 1, 1, AMPLE),
    (4, 32, 1, 1, AMPLE),
    (32, 1, 1, 1, AMPLE),
    (32, 4, 1, 1, AMPLE),
    (32, 3, 3, 2, AMPLE),
    (2, 4, 2, 3, AMPLE),
    (4, 12, 3, 2, AMPLE),
    (8, 8, 1, 1, LEAST),
    (8, 8, 1, 1, AMPLE | {"a_words": 4, "b_words": 4}),
    (5, 15, 5, 1, AMPLE),
    (3, 6, 6, 4, AMPLE),
    (2, 12, 3, 3, LEAST | {"max_columns": 64, "max_rows": 32}),
    (16, 16, 4, 1, AMPLE),
]
LARGE = [(16, 32, 1, 1, AMPLE), (32, 32, 32, 1, AMPLE)]  # these take a minute to build each


def configurations(seed: int, count: int) -> list[EngineConfig]:
    """`count` configurations, half of them or more corners; 40 hold all kinds."""
    rng = np.random.default_rng(seed)
    found = [_corner(dataflow, *corner) for corner in CORNERS for dataflow in DATAFLOWS]
    found += [_corner(dataflow, *corner) for corner, dataflow in zip(LARGE, DATAFLOWS, strict=True)]
    cells = itertools.cycle(rng.permutation([name for name in CELLS if name not in ("portable", *FAILING_CELLS)]))
    while len(found) < count:
        index = len(found)
        found.append(draw(rng, DATAFLOWS[index // 2 % 2], str(next(cells)) if index % 2 else "portable"))
    return [found[i] for i in rng.permutation(len(found))][:count]


def _corner(dataflow: str, rows: int, cols: int, lanes: int, depth: int, sizes: dict[str, int]) -> EngineConfig:
    return EngineConfig(rows=rows, cols=cols, lanes=lanes, depth=depth, dataflow=dataflow, **sizes)


def draw(rng: np.random.Generator, dataflow: str, cells: str = "portable", most: int = 256) -> EngineConfig:
    """A configuration of at most so many multipliers.

    Small sizes are as likely as large ones, short drains as long ones, and all divisors of ``cols`` as each other.
    """
    wanted = int(rng.integers(-8, 8))  # power of two of the drain, or below 0 any
    while True:
        rows, cols = (int(33 ** rng.random()) for _ in range(2))
        depth = int(rng.integers(1, 5))
        lanes = int(rng.choice([lanes for lanes in range(1, cols + 1) if not cols % lanes]))
        if rows * cols * depth <= most and (wanted < 0 or (rows * cols // lanes).bit_length() - 1 == wanted):
            break
    tiles = 1 << int(rng.integers(0, 3))
    sizes = {
        "a_words": 1 << int(rng.integers(2, 7)),
        "b_words": 1 << int(rng.integers(2, 9)),
        "max_columns": max(2, 1 << (tiles * cols - 1).bit_length()),
        "max_rows": 1 << int(rng.integers(1, 7)),
    }
    least = {name: size for name, size in LEAST.items() if rng.random() < 0.25}
    return EngineConfig(
        rows=rows, cols=cols, depth=depth, lanes=lanes, dataflow=dataflow, cells=cells, **(sizes | least)
    )


def fits(config: EngineConfig, m: int, k: int, n: int, *, per_row: bool) -> bool:
    """Whether a job fits buffers and tables."""
    tiles, beats, chunks = -(-n // config.cols), -(-k // config.depth), -(-k // (config.rows * config.depth))
    if n > config.max_columns or (per_row and m > config.max_rows):
        return False
    if config.dataflow == WEIGHT:
        return m <= config.max_rows and (n <= config.cols or m * chunks <= config.a_words)
    return (n <= config.cols or beats <= config.a_words) and (m <= config.rows or beats * tiles <= config.b_words)


def cost(config: EngineConfig, m: int, k: int, n: int) -> int:
    """Cycles of a job, about."""
    tiles, beats, chunks = -(-n // config.cols), -(-k // config.depth), -(-k // (config.rows * config.depth))
    if config.dataflow == WEIGHT:
        return tiles * (chunks * max(m, config.rows) + m * config.interval)
    return -(-m // config.rows) * tiles * max(beats, config.drain_cycles)


def random_jobs(config: EngineConfig, rng: np.random.Generator, count: int) -> list[Job]:
    """Jobs that fit; after one that drains long and reads little follows a tiny one, which catches up with it."""
    jobs: list[Job] = []
    kind = "any"
    while len(jobs) < count:
        kind = "tiny" if kind == "drain" else str(rng.choice(["any", "any", "drain"]))
        jobs.append(random_job(config, rng, *_shape(config, rng, kind)))
    return jobs


def _shape(config: EngineConfig, rng: np.random.Generator, kind: str) -> tuple[int, int, int]:
    for _ in range(500):
        shape = _SHAPES[kind](config, rng)
        if fits(config, *shape, per_row=False) and cost(config, *shape) <= LONGEST_JOB:
            return shape
    return 1, 1, 1


def _any(config: EngineConfig, rng: np.random.Generator) -> tuple[int, int, int]:
    """Edges of tiles and of buffers, or anything."""
    rows, columns = _most(config)
    chunk = config.depth * (config.rows if config.dataflow == WEIGHT else 1)
    m, n = dimension(rng, config.rows, rows), dimension(rng, config.cols, columns)
    room = rng.random()
    if room < 0.2:
        k = chunk * max(1, config.a_words // (m if config.dataflow == WEIGHT else 1))
    elif room < 0.4:
        k = config.depth * max(1, config.b_words // -(-n // config.cols))
    else:
        k = dimension(rng, chunk, max(3 * chunk + 3, 64))
    return m, k, n


def _most(config: EngineConfig) -> tuple[int, int]:
    """Rows and columns that a job has at the most: three tiles and more, where they fit."""
    rows = 3 * config.rows + 3 if config.dataflow == OUTPUT else min(3 * config.rows + 3, config.max_rows)
    return rows, min(3 * config.cols + 3, config.max_columns)


def _drain(config: EngineConfig, rng: np.random.Generator) -> tuple[int, int, int]:
    """Whole tiles of hardly any K."""
    rows, columns = _most(config)
    groups, tiles = (int(each) for each in rng.integers(1, 4, 2))
    k = int(rng.integers(1, 2 * config.depth, endpoint=True))
    return min(groups * config.rows, rows), k, min(tiles * config.cols, columns)


def _tiny(config: EngineConfig, rng: np.random.Generator) -> tuple[int, int, int]:
    m, n = (int(each) for each in rng.integers(1, 3, 2))
    return m, int(rng.integers(1, config.depth, endpoint=True)), n


_SHAPES = {"any": _any, "drain": _drain, "tiny": _tiny}


def dimension(rng: np.random.Generator, span: int, most: int) -> int:
    """1, a multiple of `span` or one beside it, or anything up to `most`."""
    kind = rng.integers(0, 4)
    if kind == 0:
        return 1
    if kind == 1:
        return int(rng.integers(1, most, endpoint=True))
    near = span * rng.integers(1, max(1, most // span), endpoint=True) + rng.integers(-1, 1, endpoint=True)
    return int(np.clip(near, 1, most))


def random_job(config: EngineConfig, rng: np.random.Generator, m: int, k: int, n: int) -> Job | Codes:
    """A job of this shape: every type mix, zero points and scales of all kinds; of float8 the engine's types."""
    if config.float8:
        return random_float8_job(config, rng, m, k, n)
    a_type, b_type = ((np.int8, np.uint8)[i] for i in rng.integers(0, 2, 2))
    y_format = (INT8, UINT8)[rng.integers(2)]
    per_row = rng.random() < 0.5 and fits(config, m, k, n, per_row=True)
    typical = 100 / (74 * 74 * np.sqrt(k)) * 2 ** rng.uniform(-3, 3, n)
    extreme = rng.choice(np.float32([0, 1e-30, 2.0**-32, 2.0**-31, 0.5, 1, 250, 256, 1e30]), n)
    scale = np.where(rng.random(n) < 0.1, extreme, typical).astype(np.float32)
    limit = 2**31 if rng.random() < 0.2 else 2**14
    return Job(
        a=values(rng, a_type, (m, k)),
        b=values(rng, b_type, (k, n)),
        a_zero_point=values(rng, a_type, (m if per_row else 1,)),
        b_zero_point=values(rng, b_type, (n,)),
        bias=rng.integers(-limit, limit, n).astype(np.int32),
        scale=None if rng.random() < 0.3 else scale,
        y_zero_point=int(rng.integers(y_format.min, y_format.max, endpoint=True)),
        y_format=y_format,
    )


def golden(job: Job | Codes) -> np.ndarray:
    """What the job must give."""
    if isinstance(job, Codes):
        return job.golden()
    sums = matmul_integer(job.a, job.b, job.a_zero_point, job.b_zero_point) + job.bias  # wraps, as int32 does
    return sums if job.scale is None else requantize_float32(sums, job.scale, job.y_zero_point, job.y_format)


def text(job: Job | Codes) -> str:
    """A job in a line."""
    if isinstance(job, Codes):
        a, b, y = job.formats
        return f"M = {job.m}, K = {job.k}, N = {job.n}, {a} x {b} -> {y}"
    kind = "int32" if job.scale is None else job.y_format.name
    rows = "a row" if len(job.a_zero_point) > 1 else "all"
    return f"M = {job.m}, K = {job.k}, N = {job.n}, {job.a.dtype} x {job.b.dtype} -> {kind}, zero point of A for {rows}"
