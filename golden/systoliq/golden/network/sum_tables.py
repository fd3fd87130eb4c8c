"""Sums of two tables: a rounded, saturated sum of two bytes' contributions in integers, exact for all pairs or
impossible.

    y = saturate(round_half_even((a_table[a] + b_table[b]) / 2^shift))

For given results, every pair (a, b) bounds a_table[a] + b_table[b] from both sides. This is a system of difference
constraints, which shortest paths solve, or prove to have no solution (Bellman 1958, Ford 1956).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..formats import IntFormat

__all__ = ["MOST_SHIFT", "SumTables"]

MOST_SHIFT = 24
_FAR = 1 << 40  # beyond every sum


@dataclass(frozen=True, kw_only=True)
class SumTables:
    """The tables, with 256 entries indexed by the operand's code less the smallest, and the shift of their sum."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    shift: int
    output: IntFormat

    @classmethod
    def of(cls, results: npt.NDArray[np.integer], output: IntFormat) -> SumTables | None:
        """Return the tables with the smallest shift that give `results` [a, b] of `output` for all pairs; None if no
        shift up to `MOST_SHIFT` does.
        """
        y = np.ascontiguousarray(results)
        return _tables(y.tobytes(), y.dtype.str, y.shape, output)

    def apply(self, a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The results for operands counted from 0, of one shape."""
        total = np.array(self.a)[a] + np.array(self.b)[b]
        half = 1 << self.shift >> 1
        odd = total >> self.shift & 1
        rounded = total + half - (1 - odd) * (half > 0) >> self.shift
        clipped: npt.NDArray[Any] = np.clip(rounded, self.output.min, self.output.max).astype(self.output.dtype)
        return clipped


@functools.lru_cache(64)  # a network is planned more than once, and each search takes half a second
def _tables(content: bytes, dtype: str, shape: tuple[int, ...], output: IntFormat) -> SumTables | None:
    """The tables that give the results in `content`."""
    y = np.frombuffer(content, dtype).reshape(shape).astype(np.int64)
    for shift in range(MOST_SHIFT + 1):
        found = _solve(*_bounds(y, shift, output))
        if found is not None:
            return SumTables(a=tuple(map(int, found[0])), b=tuple(map(int, found[1])), shift=shift, output=output)
    return None


def _bounds(y: npt.NDArray[np.int64], shift: int, output: IntFormat) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The least and the greatest sum that gives each result."""
    half = 1 << shift >> 1
    odd = (y & 1) * (half > 0)
    least = np.where(y == output.min, -_FAR, (y << shift) - half + odd)
    most = np.where(y == output.max, _FAR, (y << shift) + half - odd)
    return least, most


def _solve(
    least: npt.NDArray[np.int64], most: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None:
    """Integers with least[i, j] <= u[i] + v[j] <= most[i, j]; None if there are no such integers."""
    u, v = np.zeros(len(least), np.int64), np.zeros(least.shape[1], np.int64)  # v: less its sign
    for _ in range(sum(least.shape) + 1):
        new_u = np.minimum(u, (v + most).min(axis=1))  # u - v' <= most, v' = -v
        new_v = np.minimum(v, (new_u[:, None] - least).min(axis=0))
        if (new_u == u).all() and (new_v == v).all():
            middle = int(np.median(u))
            return u - middle, middle - v
        if new_u.min() < -_FAR or new_v.min() < -_FAR:
            return None
        u, v = new_u, new_v
    return None
