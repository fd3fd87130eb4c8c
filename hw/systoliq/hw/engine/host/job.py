"""Jobs of the engine: one 2-D product each, with a constant table per column, and how large one may be."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden import UINT8
from systoliq.golden.formats import IntFormat

from ..config import LARGEST, EngineConfig

__all__ = ["AnyJob", "Float8Job", "Job", "blocks"]

Array = npt.NDArray[Any]


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Product:
    """The operands of a job: a [m, k] times b [k, n]."""

    a: Array
    b: Array

    @property
    def m(self) -> int:
        """Rows of A and Y."""
        return len(self.a)

    @property
    def k(self) -> int:
        """Columns of A, rows of B."""
        return int(self.a.shape[1])

    @property
    def n(self) -> int:
        """Columns of B and Y."""
        return int(self.b.shape[1])


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Job(Product):
    """One job of integers: a [m, k] times b [k, n], each int8 or uint8.

    `a_zero_point` has one entry, or m; `b_zero_point` and `bias` (int32) have n. `scale` (float32, n entries) rescales
    to `y_format` with `y_zero_point`; None asks for the int32 sums.
    """

    a_zero_point: Array
    b_zero_point: Array
    bias: Array
    scale: Array | None = None
    y_zero_point: int = 0
    y_format: IntFormat = UINT8

    @property
    def y_dtype(self) -> np.dtype[Any]:
        """Type of the job's results."""
        return np.dtype(np.int32) if self.scale is None else np.dtype(self.y_format.dtype)


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Float8Job(Product):
    """One job of float8: codes a [m, k] times codes b [k, n], uint8, of the engine's formats.

    `scale` (float32, n entries, positive and finite) multiplies the exact sums of each column.
    """

    scale: Array

    @property
    def y_dtype(self) -> np.dtype[Any]:
        """Type of the job's results: codes."""
        return np.dtype(np.uint8)


AnyJob = Job | Float8Job


def blocks(config: EngineConfig, m: int, k: int, n: int, per_row: bool) -> tuple[int, int]:
    """Rows and columns that one job takes at the most.

    Where B does not fit its buffer, a job has the columns that fit, or a group of rows: whichever reads less of memory.
    """
    if config.dataflow == "weight-stationary":
        rows, columns = min(m, config.max_rows, LARGEST), min(n, LARGEST, config.max_columns)
        if rows * -(-k // (config.rows * config.depth)) > config.a_words:
            columns = min(columns, config.cols)  # then A passes through its buffer once
        elif config.cols <= columns < n:
            columns = columns // config.cols * config.cols
        return rows, columns
    beats = -(-k // config.depth)
    rows = min(m, LARGEST, config.max_rows) if per_row else min(m, LARGEST)
    columns = min(n, LARGEST, config.max_columns)
    if beats > config.a_words:
        columns = min(columns, config.cols)  # then A passes through its buffer once
    if rows > config.rows:
        held = min(columns, config.b_words // beats * config.cols)  # for jobs whose B stays in its buffer
        if held and _read(m, n, rows, held) <= _read(m, n, config.rows, columns):
            columns = held
        else:
            rows = config.rows  # then B passes through its buffer once
    if rows < m:
        rows = max(rows // config.rows, 1) * config.rows if rows >= config.rows else rows
    if columns < n and columns >= config.cols:
        columns = columns // config.cols * config.cols
    return rows, columns


def _read(m: int, n: int, rows: int, columns: int) -> int:
    """Elements of A and B, per element of K, that jobs of `rows` rows and `columns` columns read."""
    return m * -(-n // columns) + n * -(-m // rows)
