"""Planning: which jobs of the engine make up a QLinearMatMul or MatMulInteger. numpy only, no hardware.

A job is one 2-D product with a constant table per column. What the operators allow beyond that is a matter of order:

* batches that share b become rows of one job; every other batch is a job of its own;
* rows whose combined scales differ cannot share a constant table: each distinct one becomes a job, unless there are
  fewer distinct columns; then the job is transposed, Y' = B' A', and the scales of rows are scales of columns;
* a job that does not fit buffers or tables is cut in N, and where that does not help in M. K is never cut.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden import UINT8, combined_scale, requantize_float32
from systoliq.golden.formats import IntFormat
from systoliq.golden.operators import matmul_operands, unpromote
from systoliq.golden.parameters import along, as_operand, as_scale, as_zero_point, one_element
from systoliq.hw.engine import EngineConfig

__all__ = ["Job", "Placed", "Plan", "blocks", "plan_matmul_integer", "plan_qlinear_matmul"]

Array = npt.NDArray[Any]
LARGEST = 65535  # M, K and N are registers of 16 bits


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Job:
    """One job: a [m, k] times b [k, n], each int8 or uint8.

    `a_zero_point` has one entry, or m; `b_zero_point` and `bias` (int32) have n. `scale` (float32, n entries) rescales
    to `y_format` with `y_zero_point`; None asks for the int32 sums.
    """

    a: Array
    b: Array
    a_zero_point: Array
    b_zero_point: Array
    bias: Array
    scale: Array | None = None
    y_zero_point: int = 0
    y_format: IntFormat = UINT8

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

    @property
    def y_dtype(self) -> np.dtype[Any]:
        """Type of the job's results."""
        return np.dtype(np.int32) if self.scale is None else np.dtype(self.y_format.dtype)


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Placed:
    """A job and the rows and columns of the plan's Y [rows, N] that it computes, transposed or not."""

    job: Job
    rows: Array
    columns: Array
    transposed: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """The jobs of one operation and how their results become its result.

    `fill` is the value of results that no job computes: those of K = 0.
    """

    placed: tuple[Placed, ...]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fill: int = 0

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The jobs, in the order in which they run."""
        return tuple(placed.job for placed in self.placed)

    def assemble(self, results: Sequence[Array]) -> Array:
        """The operation's result from those of its jobs, [m, n] each."""
        flat = np.full(self.shape, self.fill, self.dtype)
        if flat.size:
            columns = max((int(placed.columns.max()) + 1 for placed in self.placed), default=1)
            y = flat.reshape(-1, columns)
            for placed, result in zip(self.placed, results, strict=True):
                y[np.ix_(placed.rows, placed.columns)] = result.T if placed.transposed else result
        return flat


def plan_matmul_integer(
    config: EngineConfig,
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    a_zero_point: npt.ArrayLike | None = None,
    b_zero_point: npt.ArrayLike | None = None,
) -> Plan:
    """Plan `systoliq.golden.matmul_integer` with its arguments."""
    return _plan(config, *matmul_operands(a, b), a_zero_point, b_zero_point, None)


def plan_qlinear_matmul(
    config: EngineConfig,
    a: npt.ArrayLike,
    a_scale: npt.ArrayLike,
    a_zero_point: npt.ArrayLike,
    b: npt.ArrayLike,
    b_scale: npt.ArrayLike,
    b_zero_point: npt.ArrayLike,
    y_scale: npt.ArrayLike,
    y_zero_point: npt.ArrayLike,
) -> Plan:
    """Plan `systoliq.golden.qlinear_matmul` with its arguments.

    ValueError where a combined scale a_scale * b_scale / y_scale is negative, infinite or NaN: the hardware has no
    constants for it (golden defines such results; no quantizer writes such scales).
    """
    a, b = matmul_operands(a, b)
    zero_point = one_element("y_zero_point", as_operand("y_zero_point", y_zero_point))
    rescale = _Rescale(
        a=along("row", "a_scale", as_scale("a_scale", a_scale), a.shape),
        b=along("column", "b_scale", as_scale("b_scale", b_scale), b.shape),
        y=one_element("y_scale", as_scale("y_scale", y_scale)),
        zero_point=int(zero_point),
        output=IntFormat.of(zero_point.dtype),
    )
    return _plan(config, a, b, a_zero_point, b_zero_point, rescale)


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class _Rescale:
    a: Array
    b: Array
    y: Any
    zero_point: int
    output: IntFormat


def _plan(
    config: EngineConfig,
    a: Array,
    b: Array,
    a_zero_point: npt.ArrayLike | None,
    b_zero_point: npt.ArrayLike | None,
    rescale: _Rescale | None,
) -> Plan:
    a_zp = np.zeros((), a.dtype) if a_zero_point is None else as_zero_point("a_zero_point", a_zero_point, a.dtype, "a")
    b_zp = np.zeros((), b.dtype) if b_zero_point is None else as_zero_point("b_zero_point", b_zero_point, b.dtype, "b")
    a_zp, b_zp = along("row", "a_zero_point", a_zp, a.shape), along("column", "b_zero_point", b_zp, b.shape)
    rows, columns = np.atleast_2d(a), b[:, np.newaxis] if b.ndim == 1 else b
    (m, k), n = rows.shape[-2:], columns.shape[-1]
    batch = np.broadcast_shapes(rows.shape[:-2], columns.shape[:-2])
    shape = unpromote(np.empty((*batch, m, n), bool), a, b).shape
    dtype = np.dtype(np.int32) if rescale is None else np.dtype(rescale.output.dtype)
    count = int(np.prod(batch, dtype=int))
    if k > LARGEST:
        raise ValueError(f"K must be at most {LARGEST} on the engine, not {k!r}")

    # Everything that goes along rows as [batch * M, ...], everything along columns as [batches of b, ..., N].
    a_rows = np.broadcast_to(rows, (*batch, m, k)).reshape(count, m, k)
    a_zp_rows = np.broadcast_to(a_zp, (*batch, m, 1)).reshape(count, m)
    own = columns.shape[:-2]
    b_count = int(np.prod(own, dtype=int))
    b_columns = columns.reshape(b_count, k, n)
    b_zp_columns = np.broadcast_to(b_zp, (*own, 1, n)).reshape(b_count, n)
    which = np.broadcast_to(np.arange(b_count).reshape(own), batch).reshape(count)
    if rescale is not None:
        a_scales = np.broadcast_to(rescale.a, (*batch, m, 1)).reshape(count, m)
        b_scales = np.broadcast_to(rescale.b, (*own, 1, n)).reshape(b_count, n)
        _check_scales(a_scales, b_scales, rescale.y)
    if not count * m * n:
        return Plan(placed=(), shape=shape, dtype=dtype)
    if not k:
        fill = 0 if rescale is None else int(requantize_float32(0, 1.0, rescale.zero_point, rescale.output))
        return Plan(placed=(), shape=shape, dtype=dtype, fill=fill)

    placed: list[Placed] = []
    for index in range(b_count):
        batches = np.flatnonzero(which == index)
        part = _Part(
            a=a_rows[batches].reshape(-1, k),
            b=b_columns[index],
            a_zero_point=a_zp_rows[batches].reshape(-1),
            b_zero_point=b_zp_columns[index],
            rows=(batches[:, np.newaxis] * m + np.arange(m)).reshape(-1),
            columns=np.arange(n),
        )
        if rescale is None:
            placed += part.jobs(config, None, None)
        else:
            for smaller, scale in part.by_scale(a_scales[batches].reshape(-1), b_scales[index], rescale.y):
                placed += smaller.jobs(config, scale, rescale)
    return Plan(placed=tuple(placed), shape=shape, dtype=dtype)


def _check_scales(a_scales: Array, b_scales: Array, y_scale: Any) -> None:
    """Refuse what has no integer constants; products of extremes stand for all."""
    scales = combined_scale(np.unique(a_scales)[:, np.newaxis], np.unique(b_scales), y_scale)
    wrong = scales[~((scales >= 0) & np.isfinite(scales))]
    if wrong.size:
        raise ValueError(
            f"a_scale * b_scale / y_scale must be zero or positive, and finite, on the engine, not {float(wrong[0])!r}"
        )


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class _Part:
    """A 2-D product, its zero points, and its place in Y; a [r, k], b [k, c]."""

    a: Array
    b: Array
    a_zero_point: Array
    b_zero_point: Array
    rows: Array
    columns: Array
    transposed: bool = False

    def transpose(self) -> _Part:
        return _Part(
            a=self.b.T,
            b=self.a.T,
            a_zero_point=self.b_zero_point,
            b_zero_point=self.a_zero_point,
            rows=self.columns,
            columns=self.rows,
            transposed=not self.transposed,
        )

    def take(self, rows: Array | slice, columns: Array | slice) -> _Part:
        return dataclasses.replace(
            self,
            a=self.a[rows],
            b=self.b[:, columns],
            a_zero_point=self.a_zero_point[rows],
            b_zero_point=self.b_zero_point[columns],
            rows=self.rows[rows],
            columns=self.columns[columns],
        )

    def by_scale(self, a_scale: Array, b_scale: Array, y_scale: Any) -> Iterator[tuple[_Part, Array]]:
        """Parts in which all rows have the same scales, and these: one for each column."""
        row_of, by_row = _distinct(a_scale, b_scale, y_scale)
        column_of, by_column = _distinct(b_scale, a_scale, y_scale)
        turn = len(by_column) < len(by_row)
        part = self.transpose() if turn else self
        of, scales = (column_of, by_column) if turn else (row_of, by_row)
        for index, scale in enumerate(scales):
            yield part.take(np.flatnonzero(of == index), slice(None)), scale

    def jobs(self, config: EngineConfig, scale: Array | None, rescale: _Rescale | None) -> Iterator[Placed]:
        """The part as jobs that fit."""
        zero_point = np.unique(self.a_zero_point)
        per_row = len(zero_point) > 1
        rows, columns = blocks(config, self.a.shape[0], self.a.shape[1], self.b.shape[1], per_row)
        for column in range(0, self.b.shape[1], columns):
            for row in range(0, self.a.shape[0], rows):
                part = self.take(slice(row, row + rows), slice(column, column + columns))
                job = Job(
                    a=part.a,
                    b=part.b,
                    a_zero_point=part.a_zero_point if per_row else zero_point,
                    b_zero_point=part.b_zero_point,
                    bias=np.zeros(part.b.shape[1], np.int32),
                    scale=None if scale is None else scale[column : column + columns],
                    y_zero_point=0 if rescale is None else rescale.zero_point,
                    y_format=UINT8 if rescale is None else rescale.output,
                )
                down, across = (part.columns, part.rows) if part.transposed else (part.rows, part.columns)
                yield Placed(job=job, rows=down, columns=across, transposed=part.transposed)


def _distinct(own: Array, other: Array, y_scale: Any) -> tuple[Array, Array]:
    """Which of the distinct vectors of combined scales each of `own` has, and these vectors, along `other`."""
    values, value_of = np.unique(own, return_inverse=True)
    scales = combined_scale(values[:, np.newaxis], other, y_scale)
    vectors, vector_of = np.unique(scales, axis=0, return_inverse=True)
    return vector_of.reshape(-1)[value_of.reshape(-1)], vectors


def blocks(config: EngineConfig, m: int, k: int, n: int, per_row: bool) -> tuple[int, int]:
    """Rows and columns that one job takes at the most."""
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
        if tiles := config.b_words // beats:
            columns = min(columns, tiles * config.cols)
        else:
            rows = config.rows  # then B passes through its buffer once
    if rows < m:
        rows = max(rows // config.rows, 1) * config.rows if rows >= config.rows else rows
    if columns < n and columns >= config.cols:
        columns = columns // config.cols * config.cols
    return rows, columns
