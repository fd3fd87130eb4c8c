"""Exact integer matrix products on numpy arrays, and int32 accumulators.

Integers go through float64 BLAS, which is exact in any order of summation as long as no partial sum passes 2^53. Longer
sums over K are split.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_EXACT = 1 << 53  # float64 holds every integer up to here


def exact_matmul(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """`numpy.matmul(a, b)` of integer arrays of at least 2 dimensions, exact, as int64. A sum over K = 0 is 0.

    Limit: every product below 2^53 and every sum below 2^63; products of 16-bit operands with K < 2^30 are far inside.
    """
    k = a.shape[-1]
    step = max(1, _EXACT // max(1, _magnitude(a) * _magnitude(b)))
    a, b = a.astype(np.float64), b.astype(np.float64)
    total: npt.NDArray[np.int64] = np.matmul(a[..., :step], b[..., :step, :]).astype(np.int64)
    for start in range(step, k, step):
        stop = start + step
        total += np.matmul(a[..., start:stop], b[..., start:stop, :]).astype(np.int64)
    return total


def wrap_int32(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    """Return `values` modulo 2^32 as int32: the content of a 32-bit accumulator after the same sum."""
    return values.astype(np.int32)  # int64 to int32 keeps the low bits


def _magnitude(values: npt.NDArray[Any]) -> int:
    return max(-int(values.min()), int(values.max())) if values.size else 0
