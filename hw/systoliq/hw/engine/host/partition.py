"""Parts: a 2-D product, cut into jobs whose rows share their constants and which fit the engine."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden import combined_scale
from systoliq.golden.formats import IntFormat

from ..config import LARGEST, EngineConfig
from .canonical_scales import canonical_scales
from .job import AnyJob, Job, blocks
from .job_placement import Placed

__all__ = ["Part", "Rescale", "Scales"]

Array = npt.NDArray[Any]
Scales = tuple[Array, Array, Any]  # of rows, of columns, of Y


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Rescale:
    """Scales of A, B and Y, the zero point of Y and its format."""

    a: Array
    b: Array
    y: Any
    zero_point: int
    output: IntFormat


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """A 2-D product, its zero points, and its place in Y; a [r, k], b [k, c]."""

    a: Array
    b: Array
    a_zero_point: Array
    b_zero_point: Array
    rows: Array
    columns: Array
    transposed: bool = False

    def transpose(self) -> Part:
        """The product B' A' in its place."""
        return Part(
            a=self.b.T,
            b=self.a.T,
            a_zero_point=self.b_zero_point,
            b_zero_point=self.a_zero_point,
            rows=self.columns,
            columns=self.rows,
            transposed=not self.transposed,
        )

    def take(self, rows: Array | slice, columns: Array | slice) -> Part:
        """Only these rows and columns."""
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
        self, scales: Scales | None, bias: Array | None, *, may_turn: bool = True
    ) -> Iterator[tuple[Part, Array | None, Array | None]]:
        """Parts whose rows have the same scales and biases in each column.

        `scales` are the scales of the rows, of the columns and of Y; `bias` is [r, c]. If there are fewer parts along
        the columns, and `may_turn` is set, parts are transposed.
        """
        by_row = _groups(len(self.rows), scales, bias)
        turned = None if scales is None else (scales[1], scales[0], scales[2])
        by_column = _groups(len(self.columns), turned, None if bias is None else bias.T)
        turn = may_turn and len(by_column) < len(by_row)
        part = self.transpose() if turn else self
        for which, scale, column_bias in by_column if turn else by_row:
            yield part.take(which, slice(None)), scale, column_bias

    def within(self, largest: int = LARGEST) -> Iterator[Part]:
        """Products of at most `largest` elements of K each, whose sums add up to the sums of this one."""
        for k in range(0, self.a.shape[1], largest):
            yield dataclasses.replace(self, a=self.a[:, k : k + largest], b=self.b[k : k + largest])

    def sums(self, config: EngineConfig, bias: Array | None) -> Iterator[Placed]:
        """The int32 sums as jobs that fit; where K is cut, results in the same place are to be added."""
        for part in self.within():
            yield from part._jobs(config, bias, {})
            bias = None

    def rescaled(self, config: EngineConfig, scale: Array, bias: Array | None, rescale: Rescale) -> Iterator[Placed]:
        """The rescaled results as jobs that fit, one for each of the constants that hardware has once a job."""
        for some in canonical_scales(scale, rescale.zero_point, rescale.output):
            own_bias = None if bias is None else bias[some.columns]
            constants = {"scale": some.scale, "y_zero_point": some.zero_point, "y_format": rescale.output}
            for placed in self.take(slice(None), some.columns)._jobs(config, own_bias, constants):
                yield dataclasses.replace(placed, complemented=some.complemented)

    def _jobs(self, config: EngineConfig, bias: Array | None, constants: dict[str, Any]) -> Iterator[Placed]:
        """Split the part into jobs that fit buffers and tables; `constants` are fields of `Job`, `scale` [c] among
        them.
        """
        zero_point = np.unique(self.a_zero_point)
        per_row = len(zero_point) > 1
        bias = np.zeros(self.b.shape[1], np.int32) if bias is None else bias
        for part, own in self.pieces(config, per_row=per_row):
            scale = {"scale": constants["scale"][own]} if constants else {}
            job = Job(
                a=part.a,
                b=part.b,
                a_zero_point=part.a_zero_point if per_row else zero_point,
                b_zero_point=part.b_zero_point,
                bias=bias[own],
                **constants | scale,
            )
            yield part.placed(job)

    def pieces(self, config: EngineConfig, *, per_row: bool = False) -> Iterator[tuple[Part, slice]]:
        """Parts that fit buffers and tables, and which of the columns each has."""
        rows, columns = blocks(config, self.a.shape[0], self.a.shape[1], self.b.shape[1], per_row)
        for column in range(0, self.b.shape[1], columns):
            own = slice(column, column + columns)
            for row in range(0, self.a.shape[0], rows):
                yield self.take(slice(row, row + rows), own), own

    def placed(self, job: AnyJob, **options: Any) -> Placed:
        """The `job` that computes this part, with options of `Placed`."""
        down, across = (self.columns, self.rows) if self.transposed else (self.rows, self.columns)
        return Placed(job=job, rows=down, columns=across, transposed=self.transposed, **options)


def _groups(count: int, scales: Scales | None, bias: Array | None) -> list[tuple[Array, Array | None, Array | None]]:
    """Groups of the `count` rows that share their constants, and the constants of each group along the columns."""
    keys = [np.zeros(count, np.intp)]
    if bias is not None:
        keys.append(np.unique(bias, axis=0, return_inverse=True)[1].reshape(-1))
    if scales is not None:
        own, other, y_scale = scales
        values, value_of = np.unique(own, return_inverse=True)
        vectors = combined_scale(values[:, np.newaxis], other, y_scale)
        bits = vectors.view(np.uint32)  # NaN is not equal to itself
        keys.append(np.unique(bits, axis=0, return_inverse=True)[1].reshape(-1)[value_of.reshape(-1)])
    _, first, group_of = np.unique(np.stack(keys), axis=1, return_index=True, return_inverse=True)
    return [
        (
            np.flatnonzero(group_of.reshape(-1) == index),
            None if scales is None else combined_scale(own[row], other, y_scale),
            None if bias is None else bias[row],
        )
        for index, row in enumerate(first)
    ]
