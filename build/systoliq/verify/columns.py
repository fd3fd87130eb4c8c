"""Checks of a column: its steps by the float32 formula, compared with the answers of the hardware.

If the range is small enough, every accumulator of it is evaluated, otherwise both sides of each step. The formula and
the integer form never fall as the accumulator rises (docs/exactness.md). If they agree at both ends of the range and on
both sides of every step of either, they agree on every accumulator. Only trying every accumulator shows that the
Verilog equals the integer form between the steps, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .float32 import Format, float32_output, integer_output, steps_digest, steps_of
from .lanes import Column, Lanes

__all__ = ["ColumnProof", "Tried", "first_unlike", "prove_column"]


@dataclass(frozen=True, kw_only=True)
class ColumnProof:
    """Findings on a column over lo..hi: `points` accumulators were tried; `form` has the integer form's steps."""

    steps: int
    digest: str
    points: int
    lo: int
    hi: int
    form: list[tuple[int, int]]
    differences: int
    first_difference: int | None
    unlike_form: int | None  # an accumulator at which the Verilog is not the integer form


@dataclass(frozen=True, kw_only=True)
class Tried:
    """The `steps` of a column by the float32 formula at `scale`, and the accumulators on both sides of each."""

    scale: Fraction
    steps: list[tuple[int, int]]
    points: list[int]

    @classmethod
    def of(cls, scale: Fraction, zero_point: int, output: Format, lo: int, hi: int) -> Tried:
        """Steps and accumulators over lo..hi."""
        steps = steps_of(scale, zero_point, output, lo, hi)
        points = sorted({lo, hi, *(acc for start, _ in steps[1:] for acc in (start - 1, start))})
        return cls(scale=scale, steps=steps, points=points)


def prove_column(tried: Tried, answers: Sequence[int], constants: Column, rounding: str, output: Format) -> ColumnProof:
    """Compare the Verilog's `answers` for the points of a column with the float32 formula."""
    zero_point, scale, steps, points = constants.zero_point, tried.scale, tried.steps, tried.points
    lo, hi = points[0], points[-1]

    def form(acc: int) -> int:
        return integer_output(
            acc, rounding, constants.multiplier, constants.shift, constants.offset, zero_point, output
        )

    wanted = [float32_output(acc, scale, zero_point, output) for acc in points]
    formed = [form(acc) for acc in points]
    unlike = next((acc for acc, y, x in zip(points, answers, formed, strict=True) if y != x), None)
    forms = steps if formed == wanted else _steps(form, lo, hi)
    differences, first = (0, None) if formed == wanted else _count(steps, forms, hi)
    return ColumnProof(
        steps=len(steps) - 1,
        digest=steps_digest(steps, hi),
        points=len(points),
        lo=lo,
        hi=hi,
        form=forms,
        differences=differences,
        first_difference=first,
        unlike_form=unlike,
    )


def first_unlike(hardware: Lanes, n: int, proof: ColumnProof) -> int | None:
    """Return the smallest accumulator at which column `n` of the Verilog differs from the integer form."""
    starts, outputs = (np.array(column, dtype=np.int64) for column in zip(*proof.form, strict=True))
    at = proof.lo
    for part in hardware.respond_in(n, proof.lo, proof.hi):
        accumulators = np.arange(at, at + len(part), dtype=np.int64)
        wrong = part != outputs[np.searchsorted(starts, accumulators, side="right") - 1]
        if wrong.any():
            return int(accumulators[np.argmax(wrong)])
        at += len(part)
    return None


def _steps(at: Callable[[int], int], lo: int, hi: int) -> list[tuple[int, int]]:
    """(accumulator, output) at `lo` and at each change of the output of a monotonic map, found by bisection."""
    found = [(lo, at(lo))]
    while found[-1][1] != at(hi):
        before, y = found[-1]
        low, high = before, hi
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if at(middle) > y else (middle, high)
        found.append((high, at(high)))
    return found


def _count(one: list[tuple[int, int]], other: list[tuple[int, int]], hi: int) -> tuple[int, int | None]:
    """Number of accumulators up to `hi` with different outputs, and the least of them."""
    a, b = dict(one), dict(other)
    starts = sorted({*a, *b})
    y, x = one[0][1], other[0][1]
    count, first = 0, None
    for start, end in zip(starts, [*starts[1:], hi + 1], strict=True):
        y, x = a.get(start, y), b.get(start, x)
        if y != x:
            count += end - start
            first = start if first is None else first
    return count, first
