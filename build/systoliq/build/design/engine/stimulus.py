"""What an engine is tried with: jobs of many kinds, golden's answers, and both as words and bytes of its streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from systoliq.golden import INT8, UINT8, matmul_integer, requantize_float32
from systoliq.golden.formats import IntFormat
from systoliq.hw.engine import EngineConfig
from systoliq.sim.engine import Job
from systoliq.sim.engine.plan import blocks

from ..beats import SEED, Beat, operand_beats, random_operands

if TYPE_CHECKING:
    from .design import EngineDesign

__all__ = ["EngineJob", "engine_stimulus", "stream_order"]

_SPAN = 16  # of an array's side, beyond which jobs are not twice as large but just a little larger


@dataclass(frozen=True, kw_only=True, eq=False)
class EngineJob:
    """A job, what it is for, golden's answer `y` [M, N], its words on the streams, its bytes of Y, and its cycles."""

    title: str
    job: Job
    y: npt.NDArray[Any]
    a_beats: tuple[Beat, ...]
    b_beats: tuple[Beat, ...]
    y_bytes: bytes
    cycles: int


def engine_stimulus(design: EngineDesign) -> list[EngineJob]:
    """Jobs within the engine's buffers and tables; the last two are those that errors and resets befall."""
    config = design.config
    rows, cols, depth = config.rows, config.cols, config.depth
    past = {size: size + (size if size <= _SPAN else 0) + 1 for size in (rows, cols)}  # a little over one or two tiles
    whole = {size: size * (2 if size <= _SPAN else 1) for size in (rows, cols)}
    generator = np.random.default_rng(SEED)
    int32 = None
    kinds: list[tuple[str, tuple[int, int, int], IntFormat, IntFormat, IntFormat | None, bool]] = [
        ("one element", (1, 1, 1), INT8, INT8, int32, False),
        ("ragged edges", (past[rows], 2 * depth + 1, past[cols]), UINT8, INT8, UINT8, False),
        ("K larger than all else", (rows + 1, 40 * depth + 1, max(cols - 1, 1)), UINT8, UINT8, int32, True),
        ("extremes", (2, 30 * depth, cols + 1), INT8, INT8, INT8, False),
        ("a drain that takes long", (whole[rows], 1, whole[cols]), INT8, UINT8, int32, False),
        ("whole tiles", (rows, 3, cols), INT8, UINT8, INT8, True),
    ]
    jobs = []
    for title, (m, k, n), a_format, b_format, y_format, per_row in kinds:
        m = min(m, config.max_rows) if per_row else m
        most_rows, most_columns = blocks(config, m, k, n, per_row)
        shape = (min(m, most_rows), k, min(n, most_columns))
        job, y = _job(shape, a_format, b_format, y_format, per_row, generator, extreme=title == "extremes")
        jobs.append(
            EngineJob(
                title=title,
                job=job,
                y=y,
                a_beats=_a_beats(config, job.a, generator),
                b_beats=_b_beats(config, job.b, generator),
                y_bytes=stream_order(config, y),
                cycles=design.cycles(*shape),
            )
        )
    return jobs


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


def _a_beats(config: EngineConfig, a: npt.NDArray[Any], generator: np.random.Generator) -> tuple[Beat, ...]:
    """Words of A, filled up with anything: groups of rows, or (weight-stationary) chunks of K, a word for each row."""
    m, k = a.shape
    if config.dataflow == "weight-stationary":
        chunk = config.rows * config.depth
        filled = _filled(a, (m, _up(k, chunk)), generator)
        blocks_of_a = [row for part in np.split(filled, filled.shape[1] // chunk, axis=1) for row in part[:, None]]
        depth = chunk
    else:
        filled = _filled(a, (_up(m, config.rows), _up(k, config.depth)), generator)
        blocks_of_a = np.split(filled, len(filled) // config.rows)
        depth = config.depth
    return _stream(blocks_of_a, depth)


def _b_beats(config: EngineConfig, b: npt.NDArray[Any], generator: np.random.Generator) -> tuple[Beat, ...]:
    """Words of B, tile of columns after tile, the columns of a tile sorted by the lane that serves them."""
    k, n = b.shape
    filled = _filled(b, (_up(k, config.depth), _up(n, config.cols)), generator)
    order = [p % config.interval * config.lanes + p // config.interval for p in range(config.cols)]
    return _stream(
        [tile[:, order].T for tile in np.split(filled, filled.shape[1] // config.cols, axis=1)], config.depth
    )


def _stream(parts: list[npt.NDArray[Any]], depth: int) -> tuple[Beat, ...]:
    words = [beat.word for part in parts for beat in operand_beats(part, INT8, depth)]
    return tuple(Beat(word=word, last=index == len(words) - 1) for index, word in enumerate(words))


def _filled(operand: npt.NDArray[Any], shape: tuple[int, int], generator: np.random.Generator) -> npt.NDArray[Any]:
    filled = random_operands(IntFormat.of(operand.dtype), shape, generator)
    filled[: operand.shape[0], : operand.shape[1]] = operand
    return filled


def _up(size: int, unit: int) -> int:
    return -(-size // unit) * unit


def stream_order(config: EngineConfig, y: npt.NDArray[Any]) -> bytes:
    """Y as the bytes of its stream: groups of rows, tiles of columns, rows, columns; low bytes first."""
    group = len(y) if config.dataflow == "weight-stationary" else config.rows
    blocks_of_y = [
        y[row : row + group, column : column + config.cols]
        for row in range(0, y.shape[0], group)
        for column in range(0, y.shape[1], config.cols)
    ]
    return b"".join(np.ascontiguousarray(each).astype(each.dtype.newbyteorder("<")).tobytes() for each in blocks_of_y)
