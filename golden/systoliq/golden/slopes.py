"""Slopes: which multiples of the accumulator reproduce given steps, solved exactly in integers.

A rescale by acc * slope is right where each step of `thresholds.Steps` is: its target reached at its start T, and not
yet at T - 1. Both bound the slope from one side or the other, so that for each rounding the right slopes form one
interval, whose ends are rationals. An empty interval is a proof that no multiplier of any width is right.

* with a free offset (floor): acc * slope + offset runs between the lattice points (T, u), on or below it, and (T - 1,
  u), above it. It can where the slope lies strictly between all the ratios that pairs of them ask for. The greatest
  ratio is found by Dinkelbach's iteration, from any ratio to the ratio of the pair that violates it most.
* without (nearest, near-tie): the target u is reached from tie(u) = u - 1/2 on, widened by the near-tie band towards
  its odd side; the tie belongs to the even side. T and T - 1 each ask for one ratio tie(u) / acc.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from .requantization import MANTISSA_BITS, MULTIPLIER_LIMIT, SHIFT_LIMIT, Rounding, round_to_mantissa
from .thresholds import Steps

_TIE_UNIT = MANTISSA_BITS + 1  # ties and their bands are multiples of 2^-25
_STEEPEST = 1 << 18  # more than any output rises from one accumulator to the next
_NEVER = -(1 << 61)  # less than any excess: its terms have 18 bits of output times 33 of accumulator
_DOUBT = 2.0**-40  # more than the quotient of two float64 can be wrong


@dataclass(frozen=True)
class Bound:
    """One end of an interval of slopes, and the accumulators whose outputs put it there."""

    slope: Fraction
    included: bool
    accumulators: tuple[int, ...] = ()

    def __str__(self) -> str:
        because = f" (outputs at {', '.join(map(str, self.accumulators))})" if self.accumulators else ""
        return f"{self.slope}{' or equal' if self.included else ''}{because}"


_LEVEL = Bound(Fraction(0), included=True)


@dataclass(frozen=True)
class Slopes:
    """The slopes from `below` to `above` (None: without end); empty where `below` is past `above`."""

    below: Bound
    above: Bound | None

    @property
    def empty(self) -> bool:
        """True if no slope is left."""
        if self.above is None or self.below.slope < self.above.slope:
            return False
        return self.below.slope > self.above.slope or not (self.below.included and self.above.included)

    def dyadic(self) -> tuple[int, int] | None:
        """The slope M / 2^S in the interval with the smallest M; None if it exceeds a `Requantization`.

        The smallest M has the smallest S: with one more bit of S, M becomes at least 2 * M - 1.
        """
        if self.empty:
            return None
        for shift in range(SHIFT_LIMIT + 1):
            least = self.below.slope * (1 << shift)
            multiplier = -(-least.numerator // least.denominator)  # ceil
            multiplier += multiplier == least and not self.below.included
            if multiplier >= MULTIPLIER_LIMIT:
                return None
            slope = Fraction(multiplier, 1 << shift)
            if self.above is None or slope < self.above.slope or (slope == self.above.slope and self.above.included):
                return multiplier, shift
        return None

    def __str__(self) -> str:
        return f"above {self.below}" + ("" if self.above is None else f" and below {self.above}")


def slopes_with_offset(steps: Steps, zero_point: int) -> list[Slopes]:
    """For each column the slopes of floor(acc * slope + offset) + zero_point, some offset chosen afterwards."""
    target = steps.levels - zero_point
    on_or_below = steps.start, steps.start <= steps.hi  # where u is reached
    above = steps.start - 1, steps.start > steps.lo  # where it is not yet
    lower = _extreme_rise(1, above, on_or_below, target, limit=-1)
    upper = _extreme_rise(-1, on_or_below, above, target, limit=_STEEPEST)
    return [Slopes(low or _LEVEL, high) for low, high in zip(lower, upper, strict=True)]


def offsets(steps: Steps, zero_point: int, n: int, multiplier: int, shift: int) -> tuple[int | None, int | None]:
    """The least and the most C for which (acc * M + C) >> S has the steps of column `n`; None where without end."""
    start = steps.start[:, n]
    reached, not_yet = start <= steps.hi[n], start > steps.lo[n]
    room = ((steps.levels[:, 0] - zero_point).astype(object) << shift) - start.astype(object) * multiplier
    return max(room[reached], default=None), min(room[not_yet] + (multiplier - 1), default=None)


def slopes_through_zero(steps: Steps, zero_point: int, rounding: Rounding) -> list[Slopes]:
    """For each column the slopes of round(acc * slope) + zero_point, by Rounding.NEAREST or Rounding.NEAR_TIE."""
    target = steps.levels - zero_point
    even = target % 2 == 0
    tie = (2 * target - 1) << (_TIE_UNIT - 1)
    acc = np.concatenate([steps.start, steps.start - 1])
    x = acc
    if rounding is Rounding.NEAR_TIE:
        # 2^(i - 24) to each side, where i is the index of the leading one of floor(|tie|), -1 for the ties at +-1/2
        whole = np.where(target > 0, target - 1, -target)
        band = np.array([[1 << int(value).bit_length()] for value in whole[:, 0]])
        tie = np.where(even, tie - band, tie + band)
        x = round_to_mantissa(acc)
    tie, even = np.concatenate([tie, tie]), np.concatenate([even, even])

    # reached: x * slope >= tie, or > where u is odd; not yet: x * slope < tie, or <= where u is odd. That bounds a
    # slope >= 0 only where x and tie have the same sign, from below where x > 0 is reached and x < 0 is not.
    reached = np.repeat([True, False], target.size)[:, np.newaxis]
    speaks = np.where(reached, acc <= steps.hi, acc >= steps.lo) & (x != 0) & ((x > 0) == (tie > 0))
    from_below = reached == (x > 0)
    included = np.broadcast_to(reached == even, x.shape)
    ratio = np.divide(tie, x, out=np.ones(x.shape), where=speaks)  # to 2^-53: only to leave few to compare exactly
    lower, upper = speaks & from_below, speaks & ~from_below
    lower &= ratio >= np.max(ratio, axis=0, where=lower, initial=0) * (1 - _DOUBT)
    upper &= ratio <= np.min(ratio, axis=0, where=upper, initial=np.inf) * (1 + _DOUBT)

    def bounds(chosen: npt.NDArray[np.bool_], n: int) -> Iterable[Bound]:
        for i in np.flatnonzero(chosen[:, n]):
            slope = Fraction(int(tie[i, 0]), int(x[i, n]) << _TIE_UNIT)
            yield Bound(slope, included=bool(included[i, n]), accumulators=(int(acc[i, n]),))

    return [
        Slopes(
            max(bounds(lower, n), key=lambda bound: (bound.slope, not bound.included), default=_LEVEL),
            min(bounds(upper, n), key=lambda bound: (bound.slope, bound.included), default=None),
        )
        for n in range(steps.columns)
    ]


def _extreme_rise(
    sign: int,
    earlier: tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]],
    later: tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]],
    target: npt.NDArray[np.int64],
    limit: int,
) -> list[Bound | None]:
    """The greatest (sign 1) or least (-1) rise of `target` per accumulator from an earlier point to a later one.

    Points are accumulators [levels, N] and whether they count; earlier means at the same level or below. None for a
    column in which no rise is beyond `limit`.
    """
    (from_acc, from_counts), (to_acc, to_counts) = earlier, later
    rise, run = np.full(from_acc.shape[1], limit), np.ones(from_acc.shape[1], dtype=np.int64)
    pair = np.zeros((2, rise.size), dtype=np.int64)
    found = np.zeros(rise.size, dtype=bool)
    index, columns = np.arange(target.size)[:, np.newaxis], np.arange(rise.size)
    while True:
        depart = np.where(from_counts, sign * (rise * from_acc - run * target), _NEVER)
        arrive = np.where(to_counts, sign * (run * target - rise * to_acc), _NEVER)
        excess = np.maximum.accumulate(depart, axis=0) + arrive  # of the best pair that ends here over the ratio so far
        end = excess.argmax(axis=0)
        better = excess[end, columns] > 0
        if not better.any():
            break
        begin = np.where(index <= end, depart, _NEVER).argmax(axis=0)
        accs = np.stack([from_acc[begin, columns], to_acc[end, columns]])
        found |= better
        pair = np.where(better, accs, pair)
        rise = np.where(better, target[end, 0] - target[begin, 0], rise)
        run = np.where(better, accs[1] - accs[0], run)
    return [
        Bound(Fraction(int(rise[n]), int(run[n])), included=False, accumulators=tuple(pair[:, n].tolist()))
        if found[n]
        else None
        for n in columns
    ]
