"""Planning: which jobs of the engine make up a QLinearMatMul or MatMulInteger. numpy only, no hardware.

A job is one 2-D product with a constant table per column. What the operators allow beyond that is a matter of order:

* batches that share b become rows of one job; every other batch is a job of its own;
* rows whose combined scales or biases differ cannot share a constant table: each distinct set of them becomes a job,
  unless there are fewer distinct columns; then the jobs are transposed, Y' = B' A', and what rows have is what columns
  have;
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

    `fill` holds the results that no job computes, one for all or each: those of K = 0.
    """

    placed: tuple[Placed, ...]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fill: int | Array = 0

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
    *,
    bias: npt.ArrayLike | None = None,
) -> Plan:
    """Plan `systoliq.golden.matmul_integer` with its arguments, plus `bias`: int32 that broadcasts to the result."""
    return _plan(config, *matmul_operands(a, b), a_zero_point, b_zero_point, bias, None)


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
    *,
    bias: npt.ArrayLike | None = None,
) -> Plan:
    """Plan `systoliq.golden.qlinear_matmul` with its arguments, or com.microsoft's QGemm where there is a `bias`.

    `bias` is int32 in units of a_scale * b_scale and broadcasts to the result; the sum with it wraps.

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
    return _plan(config, a, b, a_zero_point, b_zero_point, bias, rescale)


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
    bias: npt.ArrayLike | None,
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
    biases = None if bias is None else _bias(bias, shape).reshape(count, m, n)
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
        acc = np.zeros((*batch, m, n), np.int32) if biases is None else biases.reshape(*batch, m, n)
        if rescale is not None:
            combined = combined_scale(rescale.a, rescale.b, rescale.y)
            acc = requantize_float32(acc, combined, rescale.zero_point, rescale.output)
        return Plan(placed=(), shape=shape, dtype=dtype, fill=acc.reshape(shape))

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
        scales = None if rescale is None else (a_scales[batches].reshape(-1), b_scales[index], rescale.y)
        own_bias = None if biases is None else biases[batches].reshape(-1, n)
        for smaller, scale, column_bias in part.by_constants(scales, own_bias):
            placed += smaller.jobs(config, scale, column_bias, rescale)
    return Plan(placed=tuple(placed), shape=shape, dtype=dtype)


def _bias(value: npt.ArrayLike, shape: tuple[int, ...]) -> Array:
    """`value` as an array of `shape`, or an error naming it."""
    bias = np.asarray(value)
    if bias.dtype != np.int32:
        raise TypeError(f"bias must be int32, not {bias.dtype.name}")
    try:
        return np.broadcast_to(bias, shape)
    except ValueError:
        raise ValueError(
            f"bias must broadcast to the result's shape {list(shape)}, which shape {list(bias.shape)} does not"
        ) from None


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

    def by_constants(
        self, scales: tuple[Array, Array, Any] | None, bias: Array | None
    ) -> Iterator[tuple[_Part, Array | None, Array | None]]:
        """Parts whose rows have the same constants, and these for each column: scales and biases, where there are any.

        `scales` are those of rows, of columns and of Y; `bias` is [r, c].
        """
        by_row = _groups(len(self.rows), scales, bias)
        turned = None if scales is None else (scales[1], scales[0], scales[2])
        by_column = _groups(len(self.columns), turned, None if bias is None else bias.T)
        turn = len(by_column) < len(by_row)
        part = self.transpose() if turn else self
        for which, scale, column_bias in by_column if turn else by_row:
            yield part.take(which, slice(None)), scale, column_bias

    def jobs(
        self, config: EngineConfig, scale: Array | None, bias: Array | None, rescale: _Rescale | None
    ) -> Iterator[Placed]:
        """The part as jobs that fit."""
        zero_point = np.unique(self.a_zero_point)
        per_row = len(zero_point) > 1
        rows, columns = blocks(config, self.a.shape[0], self.a.shape[1], self.b.shape[1], per_row)
        bias = np.zeros(self.b.shape[1], np.int32) if bias is None else bias
        for column in range(0, self.b.shape[1], columns):
            for row in range(0, self.a.shape[0], rows):
                part = self.take(slice(row, row + rows), slice(column, column + columns))
                job = Job(
                    a=part.a,
                    b=part.b,
                    a_zero_point=part.a_zero_point if per_row else zero_point,
                    b_zero_point=part.b_zero_point,
                    bias=bias[column : column + columns],
                    scale=None if scale is None else scale[column : column + columns],
                    y_zero_point=0 if rescale is None else rescale.zero_point,
                    y_format=UINT8 if rescale is None else rescale.output,
                )
                down, across = (part.columns, part.rows) if part.transposed else (part.rows, part.columns)
                yield Placed(job=job, rows=down, columns=across, transposed=part.transposed)


def _groups(
    count: int, scales: tuple[Array, Array, Any] | None, bias: Array | None
) -> list[tuple[Array, Array | None, Array | None]]:
    """Which of `count` rows share their constants, and these along the columns."""
    keys = [np.zeros(count, np.intp)]
    if bias is not None:
        keys.append(np.unique(bias, axis=0, return_inverse=True)[1].reshape(-1))
    if scales is not None:
        own, other, y_scale = scales
        values, value_of = np.unique(own, return_inverse=True)
        vectors = combined_scale(values[:, np.newaxis], other, y_scale)
        keys.append(np.unique(vectors, axis=0, return_inverse=True)[1].reshape(-1)[value_of.reshape(-1)])
    _, first, group_of = np.unique(np.stack(keys), axis=1, return_index=True, return_inverse=True)
    return [
        (
            np.flatnonzero(group_of.reshape(-1) == index),
            None if scales is None else combined_scale(own[row], other, y_scale),
            None if bias is None else bias[row],
        )
        for index, row in enumerate(first)
    ]


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
