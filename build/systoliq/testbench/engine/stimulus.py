"""Stimulus of an engine: jobs of many kinds, golden's answers, and both as words and bytes of its streams."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden import INT8, UINT8, matmul_integer, requantize_float32
from systoliq.golden.formats import IntFormat
from systoliq.hw.engine.config import LARGEST
from systoliq.hw.engine.host import EnginePacking, Float8Job, Job, blocks
from systoliq.hw.engine.host.job import AnyJob
from systoliq.hw.packing import Words

from ...design.engine.design import EngineDesign
from ...design.once import once
from ..beats import SEED, Beat, beats_of, random_operands
from .float8_stimulus import float8_job
from .near_ties import COLUMNS, near_tie_jobs

__all__ = ["DEEP", "LONG", "NEAR_TIES", "ROWS", "SHORT", "WIDE", "Ahead", "EngineJob", "engine_stimulus"]

DEEP = "a K of 16 bits"
LONG = "a long A"
NEAR_TIES = "sums near ties"
ROWS = "zero points of rows"
WIDE = "beats of wide results"
SHORT = "three groups of rows"
_MOST_BYTES = 8192  # of a job's Y
_WIDE_BEATS = 12  # more than the packer holds
_BLOCK = 256  # of K, about, which are sent again and again until K has 16 bits
_SPAN = 16  # of an array's side, beyond which jobs are not twice as large but just a little larger


@dataclass(frozen=True, kw_only=True)
class Ahead:
    """The first `a_words` and `b_words` of a job are sent `times` times before the complete words."""

    a_words: int
    b_words: int
    times: int


@dataclass(frozen=True, kw_only=True, eq=False)
class EngineJob:
    """A job, its purpose, golden's result `y` [M, N], its words on the streams, its bytes of Y, and its cycles.

    `types` describes operands and results for readers. `backs_up`: A is so long that its tready falls where Y is not
    taken. `a_beats` and `b_beats` are the last of its words where some come `ahead`.
    """

    title: str
    job: AnyJob
    types: str
    y: npt.NDArray[Any]
    a_beats: tuple[Beat, ...]
    b_beats: tuple[Beat, ...]
    y_bytes: bytes
    cycles: int
    backs_up: bool
    ahead: Ahead | None = None

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Arrays to check the job: operands and constants, by name, and `y`."""
        if isinstance(self.job, Float8Job):
            return {"a": self.job.a, "b": self.job.b, "scale": self.job.scale, "y": self.y}
        arrays = {field: getattr(self.job, field) for field in ("a", "b", "a_zero_point", "b_zero_point", "bias")}
        if self.job.scale is not None:
            arrays |= {"scale": self.job.scale, "y_zero_point": self.y.dtype.type(self.job.y_zero_point)}
        return arrays | {"y": self.y}


@once
def engine_stimulus(design: EngineDesign) -> list[EngineJob]:
    """Jobs within the engine's buffers and tables; the last two are those that errors and resets befall."""
    config = design.config
    rows, cols, depth = config.rows, config.cols, config.depth
    past = {size: size + (size if size <= _SPAN else 0) + 1 for size in (rows, cols)}  # a little over one or two tiles
    whole = {size: size * (2 if size <= _SPAN else 1) for size in (rows, cols)}
    generator = np.random.default_rng(SEED)
    held, per_word = _held(design)
    long = rows * (config.a_words + held // per_word + 1)
    short_m, short_n = _with_a_rest(design)
    int32 = None
    kinds: list[tuple[str, tuple[int, int, int], IntFormat, IntFormat, IntFormat | None, bool]] = [
        ("one element", (1, 1, 1), INT8, INT8, int32, False),
        ("ragged edges", (past[rows], 2 * depth + 1, past[cols]), UINT8, INT8, UINT8, False),
        ("K larger than all else", (rows + 1, 40 * depth + 1, max(cols - 1, 1)), UINT8, UINT8, int32, True),
        ("extremes", (2, 30 * depth, cols + 1), INT8, INT8, INT8, False),
        (ROWS, (2 * rows + 1, depth + 1, cols + 1), UINT8, INT8, INT8, True),
        (NEAR_TIES, (min(rows, 2), 1, COLUMNS), UINT8, INT8, INT8, False),
        (LONG, (long if long * cols <= _MOST_BYTES else 8 * rows, 1, cols), INT8, INT8, INT8, False),
        (WIDE, (-(-_WIDE_BEATS * config.lanes // cols), 1, cols), INT8, UINT8, int32, False),
        (SHORT, (short_m, depth + 1, short_n), INT8, UINT8, UINT8, False),
        ("a drain that takes long", (whole[rows], 1, whole[cols]), INT8, UINT8, int32, False),
        ("whole tiles", (rows, 3, cols), INT8, UINT8, INT8, True),
    ]
    jobs: list[EngineJob] = []
    for title, (m, k, n), a_format, b_format, y_format, per_row in kinds:
        if title in (NEAR_TIES, ROWS) and config.float8:
            continue
        per_row = per_row and not config.float8
        m = min(m, config.max_rows) if per_row else m
        most_rows, most_columns = blocks(config, m, k, n, per_row)
        shape = (min(m, most_rows), k, min(n, most_columns))
        extreme = title == "extremes"
        made: Iterable[tuple[AnyJob, npt.NDArray[Any]]]
        if config.float8:
            made = [float8_job(shape, config.float8, generator, extreme=extreme)]
        elif title == NEAR_TIES:
            made = near_tie_jobs(shape[0], shape[2], generator)
        else:
            made = [_job(shape, a_format, b_format, y_format, per_row, generator, extreme=extreme)]
        jobs += [_on_streams(design, title, job, y, generator) for job, y in made]
        if title == NEAR_TIES:
            jobs += _deep(design, generator)
    return jobs


def _with_a_rest(design: EngineDesign) -> tuple[int, int]:
    """M and N of three groups of rows, or a few more: then the last results need a beat of their own, if any do, and a
    word of narrow results is out before.
    """
    m, lanes, extra = 2 * design.config.rows + 1, design.config.lanes, design.engine.packer.extra
    shapes = [(more, n) for n in range(1, lanes + 1) for more in range(max(m, -(-6 * lanes // n)), m + 6 * lanes)]
    return next((shape for shape in shapes if extra(shape[0] * shape[1], shape[1])), (m, 1))


def _deep(design: EngineDesign, generator: np.random.Generator) -> list[EngineJob]:
    """A job of one tile whose K needs 16 bits, and repeats one block except at the end; none if too long."""
    config = design.config
    chunk = config.rows * config.depth
    block = -(-_BLOCK // chunk) * chunk
    times = -(-(LARGEST // 2 + 1) // block)
    if (times + 2) * block > LARGEST:
        return []
    shape = (min(config.rows, 2), 2 * block, min(config.cols, config.max_columns))
    end, _ = _job(shape, UINT8, INT8, None, False, generator, extreme=False)
    end.a[0], end.a_zero_point[0], end.b[:, 0], end.b_zero_point[0] = UINT8.max, 0, INT8.min, 0  # a sum of 32 bits
    a = np.concatenate([np.tile(end.a[:, :block], times), end.a], axis=1)
    b = np.concatenate([np.tile(end.b[:block], (times, 1)), end.b])
    y = matmul_integer(a, b, end.a_zero_point[0], end.b_zero_point) + end.bias
    sent = _on_streams(design, DEEP, end, y, generator)
    ahead = Ahead(a_words=len(sent.a_beats) // 2, b_words=len(sent.b_beats) // 2, times=times)
    cycles = design.cycles(shape[0], a.shape[1], shape[2])
    return [replace(sent, job=replace(end, a=a, b=b), cycles=cycles, backs_up=False, ahead=ahead)]


def _on_streams(
    design: EngineDesign, title: str, job: AnyJob, y: npt.NDArray[Any], generator: np.random.Generator
) -> EngineJob:
    config, packing = design.config, EnginePacking(design.config)
    a_type, b_type, y_type = map(str, config.float8 or (each.dtype.name for each in (job.a, job.b, y)))
    a_beats = _stream(packing.pack_a(job.a, generator))  # elements beyond M, K and N must not matter
    held, per_word = _held(design)
    return EngineJob(
        title=title,
        job=job,
        types=f"{a_type} x {b_type} to {y_type}",
        y=y,
        a_beats=a_beats,
        b_beats=_stream(packing.pack_b(job.b, generator)),
        y_bytes=packing.pack_y(y),
        cycles=design.cycles(job.m, job.k, job.n),
        backs_up=job.k == 1 and len(a_beats) > config.a_words + held // per_word,
    )


def _held(design: EngineDesign) -> tuple[int, int]:
    """Results that the engine holds at the most where Y is not taken, and those that a word of A gives where K is 1."""
    config, top = design.config, design.engine
    packed = 4 * (top.packer.latency + 4) + top.core.result_buffer.capacity  # beats of the lanes' results
    per_word = config.cols * (1 if config.dataflow == "weight-stationary" else config.rows)
    return (packed + 8 * config.interval) * config.lanes, per_word


def _job(
    shape: tuple[int, int, int], a_format: IntFormat, b_format: IntFormat, y_format: IntFormat | None, per_row: bool,
    generator: np.random.Generator, *, extreme: bool,
) -> tuple[Job, npt.NDArray[Any]]:  # fmt: skip
    """A job with golden's answer: operands, zero points and biases at random, scales that spread the results."""
    m, k, n = shape
    a, b = random_operands(a_format, (m, k), generator), random_operands(b_format, (k, n), generator)
    if extreme:
        a[0], b[:, 0] = a_format.min, b_format.min
    a_zero_point = random_operands(a_format, (m if per_row else 1,), generator)
    if per_row:
        a_zero_point[:2] = [a_format.min, a_format.max][:m]
    b_zero_point = random_operands(b_format, (n,), generator)
    bias = generator.integers(-200, 200, n).astype(np.int32)
    sums = matmul_integer(a, b, a_zero_point if per_row else a_zero_point[0], b_zero_point) + bias
    if y_format is None:
        return Job(a=a, b=b, a_zero_point=a_zero_point, b_zero_point=b_zero_point, bias=bias), sums
    largest = np.abs(sums.astype(np.int64)).max(axis=0) + 1
    scale = (generator.uniform(60, 160, n) / largest).astype(np.float32)
    scale[::2] = np.exp2(np.floor(np.log2(scale[::2])))  # powers of two: some results are ties
    y_zero_point = int(generator.integers(-20, 20)) + (0 if y_format.signed else 128)
    job = Job(
        a=a, b=b, a_zero_point=a_zero_point, b_zero_point=b_zero_point, bias=bias, scale=scale,
        y_zero_point=y_zero_point, y_format=y_format,
    )  # fmt: skip
    return job, requantize_float32(sums, scale, y_zero_point, y_format)


def _stream(words: Words) -> tuple[Beat, ...]:
    return beats_of(words, np.arange(len(words)) == len(words) - 1)
