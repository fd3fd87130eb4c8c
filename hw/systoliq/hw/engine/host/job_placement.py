"""Placement of jobs: the part of an operation's result that each job computes, and how the parts are joined."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.float8 import Float8Format

from .job import AnyJob

__all__ = ["Placed", "Plan"]

Array = npt.NDArray[Any]


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Placed:
    """A job and the rows and columns of the plan's Y [rows, N] that it computes, transposed or not.

    `complemented`: Y is ~y of the job's y, see `canonical_scales`. `zeros` [n] is the value of the code 0 in each
    column of y, see `float8_canonical`; None if the value is 0.
    """

    job: AnyJob
    rows: Array
    columns: Array
    transposed: bool = False
    complemented: bool = False
    zeros: Array | None = None

    def result(self, y: Array) -> Array:
        """The part of the result that the job's `y` [m, n] gives."""
        y = ~y if self.complemented else y
        y = y if self.zeros is None else np.where(y == 0, self.zeros, y)
        return y.T if self.transposed else y


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """The jobs of one operation and how their results become its result.

    `fill` holds the results of K = 0, which no job computes: one value, or one per element. `then`, if given, makes the
    next plan from the result of this one; the operation's result is the result of the last plan.
    """

    placed: tuple[Placed, ...]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fill: int | Array = 0
    then: Callable[[Array], Plan] | None = None

    @property
    def jobs(self) -> tuple[AnyJob, ...]:
        """The jobs, in the order in which they run."""
        return tuple(placed.job for placed in self.placed)

    def assemble(self, results: Sequence[Array]) -> Array:
        """The plan's result from the results of its jobs, [m, n] each; overlapping results are added modulo 2^32."""
        is_float8 = Float8Format.of(self.dtype) is not None
        flat = np.full(self.shape, self.fill, np.uint8 if is_float8 else self.dtype)
        if flat.size:
            columns = max((int(placed.columns.max()) + 1 for placed in self.placed), default=1)
            y = flat.reshape(-1, columns)
            for placed, result in zip(self.placed, results, strict=True):
                y[np.ix_(placed.rows, placed.columns)] += placed.result(result)
        return flat.view(self.dtype)
