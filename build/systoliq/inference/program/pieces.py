"""Pieces of an operation: jobs of rows of A that follow each other and of columns of B, as they lie in memory."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

import numpy as np

from systoliq.hw.dma.convolutions import Maps
from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.config import LARGEST
from systoliq.hw.engine.host import Job
from systoliq.hw.engine.host.batches import Batches
from systoliq.hw.engine.host.job_placement import Placed

from ..operations import Array, Operation

__all__ = ["NotCompiledError", "Piece", "blank", "pieces_of"]


class NotCompiledError(Exception):
    """Why a step of the engine cannot be compiled, and stays with the host."""


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Piece:
    """A job of an operation: `rows` of A and Y, all batches one below the other, times `columns` of B's `batch`.

    `maps` are those whose windows the rows of A are, and how many bytes behind the image's first one they begin.
    """

    job: Job
    rows: slice
    columns: slice
    batch: int
    maps: tuple[int, Maps] | None = None

    @property
    def bytes(self) -> dict[str, int]:
        """Bytes that the job reads of A and B, and writes of Y."""
        job = self.job
        of_row = (
            job.k
            if self.maps is None
            else self.maps[1].windows.channels * math.prod(self.maps[1].windows.window.kernel)
        )
        return {"a": job.m * of_row, "b": job.k * job.n, "y": job.m * job.n * job.y_dtype.itemsize}


def pieces_of(operation: Operation, config: EngineConfig) -> tuple[Piece, ...]:
    """The jobs of `operation`, whose operands only have to have the right shapes.

    NotCompiledError where its constants make jobs that do not lie in memory as A, B and Y do.
    """
    m, k, n = operation.shape
    if not m or not k or not n:
        raise NotCompiledError(f"it must have elements, and is {m} x {k} x {n}")
    if k > LARGEST:
        raise NotCompiledError(f"K must be at most {LARGEST}, not {k}")
    plan, batches = operation.plan(config), Batches(operation.a, operation.b)
    pieces: list[Piece] = []
    for placed in plan.placed:
        if placed.transposed:
            raise NotCompiledError("its scales or biases must be the same for all rows")
        columns = _runs(placed.columns)
        if placed.complemented or len(columns) > 1:
            raise NotCompiledError("its scales must be positive and finite")
        pieces += _of(placed, columns[0], batches)
    return tuple(pieces)


def _of(placed: Placed, columns: slice, batches: Batches) -> Iterator[Piece]:
    """A job for each run of rows; its A is blank."""
    job, at = placed.job, 0
    if not isinstance(job, Job):
        raise TypeError(f"job must be of integers, not {type(job).__name__}")
    for rows in _runs(placed.rows):
        count = rows.stop - rows.start
        own = slice(at, at + count)
        zero_point = job.a_zero_point[own] if len(job.a_zero_point) > 1 else job.a_zero_point
        part = dataclasses.replace(job, a=blank(job.a[own]), a_zero_point=zero_point)
        yield Piece(job=part, rows=rows, columns=columns, batch=int(batches.b_of[rows.start // batches.m]))
        at += count


def blank(operand: Array) -> Array:
    """An operand of the same shape and type that takes no memory."""
    return np.broadcast_to(np.zeros((), operand.dtype), operand.shape)


def _runs(numbers: Array) -> list[slice]:
    """Ascending `numbers` as runs that follow each other."""
    ends = np.flatnonzero(np.diff(numbers) != 1)
    starts, stops = [0, *(ends + 1)], [*ends, len(numbers) - 1]
    return [slice(int(numbers[a]), int(numbers[b]) + 1) for a, b in zip(starts, stops, strict=True)]
