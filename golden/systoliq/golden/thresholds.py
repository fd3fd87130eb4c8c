"""Thresholds: the steps of the map from accumulator to output, and with them proofs over whole accumulator ranges.

Every rescale here never falls as its accumulator rises:

* float32: int32 to float32, the product with s >= 0, clip and rint are each a monotone rounding of a monotone map.
* floor and nearest: acc * M + C rises with acc (M >= 0), floor and rint do not fall.
* near-tie: between two neighbouring integers q and q + 1 the rounded value is q below the tie's band, the even one of
  the two inside it and q + 1 above it, so it does not fall there, and it never leaves [q, q + 1]; the 24-bit rounding
  of large accumulators that comes first is monotone too.

So a rescale is known on a range lo..hi once the least accumulator of each output level is known, at most 255 of them
for 8 bits, and two rescales with equal steps over a range are equal on every accumulator in it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .formats import INT32, IntFormat
from .parameters import as_scale
from .requantization import Requantization
from .rescale import requantize_float32


@dataclass(frozen=True, kw_only=True, eq=False)
class Steps:
    """The outputs of N columns as steps, over the accumulators lo..hi (inclusive, int64 [N]).

    `start[i, n]` is the smallest accumulator of column n in lo..hi whose output is at least `output.min + 1 + i`, or hi
    + 1 if there is no such accumulator: int64 [levels, N], levels = 2^bits - 1.
    """

    output: IntFormat
    lo: npt.NDArray[np.int64]
    hi: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]

    @property
    def columns(self) -> int:
        """N."""
        return int(self.start.shape[1])

    @property
    def levels(self) -> npt.NDArray[np.int64]:
        """The output of each row of `start`, [levels, 1]."""
        return _levels(self.output)

    def column(self, n: int) -> list[tuple[int, int]]:
        """(accumulator, output) of column `n` at lo and at each accumulator up to hi where the output changes."""
        start = self.start[:, n]
        changes, counts = np.unique(start[start <= self.hi[n]], return_counts=True)
        outputs = self.output.min + np.cumsum(counts)
        if not changes.size or changes[0] > self.lo[n]:
            changes, outputs = np.append(self.lo[n], changes), np.append(self.output.min, outputs)
        return list(zip(changes.tolist(), outputs.tolist(), strict=True))

    @property
    def count(self) -> tuple[int, ...]:
        """Number of times that each column's output changes within lo..hi."""
        return tuple(len(self.column(n)) - 1 for n in range(self.columns))


def float32_steps(
    scale: npt.ArrayLike, zero_point: int, output: IntFormat, lo: npt.ArrayLike, hi: npt.ArrayLike
) -> Steps:
    """Steps of the normative formula for float32 scales [N], each zero or positive; lo and hi are [N] or scalars."""
    scales = as_scale("scale", scale).reshape(-1)
    if not np.all(scales >= 0):
        raise ValueError(f"scale must be zero or positive, not {float(scales[~(scales >= 0)][0])!r}")
    return _bisect(lambda acc: requantize_float32(acc, scales, zero_point, output), output, scales.size, lo, hi)


def integer_steps(requantization: Requantization, lo: npt.ArrayLike, hi: npt.ArrayLike) -> Steps:
    """Steps of an integer form; lo and hi are [N] or scalars."""
    return _bisect(requantization.apply, requantization.output, requantization.columns, lo, hi)


def steps_digest(steps: Steps) -> tuple[str, ...]:
    """Return the SHA-256 of each column's steps, in hexadecimal.

    The hashed text is ASCII: `lo:y` for the first accumulator, then ` acc:y` for each one at which y changes, then `
    hi`. It depends only on the function on lo..hi, so equal functions have equal digests.
    """
    return tuple(column_digest(steps.column(n), int(steps.hi[n])) for n in range(steps.columns))


def column_digest(column: list[tuple[int, int]], hi: int) -> str:
    """Like `steps_digest`, for the (accumulator, output) of one column."""
    line = " ".join([*(f"{acc}:{y}" for acc, y in column), str(hi)])
    return hashlib.sha256(line.encode("ascii")).hexdigest()


def count_differences(
    requantization: Requantization, scale: npt.ArrayLike, lo: npt.ArrayLike, hi: npt.ArrayLike
) -> npt.NDArray[np.int64]:
    """Count, per column, the accumulators in lo..hi that an integer form and the float32 formula take to different
    outputs.

    `scale` is float32 [N] for the N columns of `requantization`. The count is exact, and computed from the steps alone.
    """
    wanted = float32_steps(scale, requantization.zero_point, requantization.output, lo, hi)
    return differences(wanted, integer_steps(requantization, lo, hi))


def int32_range(lo: npt.ArrayLike, hi: npt.ArrayLike) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the accumulators in int32 after sums in lo..hi ([N] each): all of int32 if a sum can wrap."""
    least, most = np.asarray(lo, dtype=np.int64), np.asarray(hi, dtype=np.int64)
    wraps = (least < INT32.min) | (most > INT32.max)
    return np.where(wraps, INT32.min, least), np.where(wraps, INT32.max, most)


def differences(one: Steps, other: Steps) -> npt.NDArray[np.int64]:
    """Number of accumulators of each column with different outputs, [N]; both must have the same columns and range.

    Two outputs differ at acc where exactly one of them has reached some level: in the union, over the levels, of the
    intervals between the two starts. Both ends of these intervals rise with the level, so each one adds what lies
    beyond the end of the one before.
    """
    if one.output != other.output or one.start.shape != other.start.shape:
        raise ValueError(
            f"steps must have the same output and columns, not {one.output} x {one.columns} "
            f"and {other.output} x {other.columns}"
        )
    if not (np.array_equal(one.lo, other.lo) and np.array_equal(one.hi, other.hi)):
        raise ValueError("steps must be over the same accumulators, not over different ranges")
    begin, end = np.minimum(one.start, other.start), np.maximum(one.start, other.start)
    begin[1:] = np.maximum(begin[1:], end[:-1])
    return np.asarray(np.maximum(end - begin, 0).sum(axis=0))


def first_difference(one: Steps, other: Steps) -> list[int | None]:
    """Return the smallest accumulator of each column at which two rescales over one range differ, or None."""
    begin = np.where(one.start == other.start, one.hi + 1, np.minimum(one.start, other.start)).min(axis=0)
    return [int(acc) if acc <= hi else None for acc, hi in zip(begin, one.hi, strict=True)]


def _bisect(
    evaluate: Callable[[npt.NDArray[np.int64]], npt.NDArray[Any]],
    output: IntFormat,
    columns: int,
    lo: npt.ArrayLike,
    hi: npt.ArrayLike,
) -> Steps:
    """Steps of the monotone `evaluate`, which takes accumulators [levels, N]: all columns and levels at once."""
    least, most = (_bound(name, bound, columns) for name, bound in (("lo", lo), ("hi", hi)))
    if np.any(least > most):
        raise ValueError("lo must be hi or less in every column")
    levels = _levels(output)
    start = np.broadcast_to(least, (levels.size, columns)).copy()
    beyond = np.broadcast_to(most + 1, start.shape).copy()
    for _ in range(int((most - least + 1).max(initial=0)).bit_length()):
        middle = np.minimum((start + beyond) >> 1, most)  # hi + 1, once found, stays found
        reached = evaluate(middle) >= levels
        beyond = np.where(reached, middle, beyond)
        start = np.where(reached, start, middle + 1)
    return Steps(output=output, lo=least, hi=most, start=start)


def _levels(output: IntFormat) -> npt.NDArray[np.int64]:
    return np.arange(output.min + 1, output.max + 1, dtype=np.int64)[:, np.newaxis]


def _bound(name: str, bound: npt.ArrayLike, columns: int) -> npt.NDArray[np.int64]:
    array = np.asarray(bound)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integers, not {array.dtype.name}")
    if array.shape not in ((), (1,), (columns,)):
        raise ValueError(f"{name} must be a scalar or of shape [{columns}], not of shape {list(array.shape)}")
    if outside := INT32.first_outside(array):
        raise ValueError(f"{name} must be in int32, not {outside[1]!r}")
    return np.asarray(np.broadcast_to(array.astype(np.int64), columns).copy())
