"""Timeline: the cycles of every step of a pipeline without stalls from outside, exact without a simulation.

A step occurs as soon as all that it waits for has occurred: a beat moves once it was made, its taker has room and the
beat before it has moved. Each block states these rules next to its hardware, in its method ``timed``, and
`Timeline.solve` finds the earliest cycles that obey all of them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["NEVER", "Cycles", "Steps", "Timeline"]

Cycles = npt.NDArray[np.int64]
_Places = slice | Cycles

NEVER = -(1 << 40)
"""A cycle before all others: of a step that waits for nothing."""


class Steps:
    """Steps of one kind in their order, such as the beats of a stream in the cycles in which they move.

    ``cycles`` are their cycles after `Timeline.solve`. Neighbours are at least ``gap`` cycles apart.
    """

    def __init__(self, count: int, gap: int, start: int) -> None:
        self.cycles: Cycles = np.full(count, start, np.int64)
        self._pace: Cycles = gap * np.arange(count, dtype=np.int64)
        self._rules: list[tuple[Steps, _Places, _Places, Cycles | int]] = []  # cause, which here, which there, delay

    def __len__(self) -> int:
        return len(self.cycles)

    @property
    def causes(self) -> list[Steps]:
        """The steps that these wait for."""
        return [cause for cause, *_ in self._rules]

    def after(self, cause: Steps, delay: Cycles | int, *, lag: int = 0) -> None:
        """Let each step occur ``delay`` cycles after the step of ``cause`` with the same number less ``lag``."""
        if lag < len(self):
            self._rules.append((cause, slice(lag, None), slice(0, len(self) - lag), delay))

    def after_some(self, cause: Steps, delay: Cycles | int, index: Cycles) -> None:
        """Let step k occur ``delay`` (or ``delay[k]``) cycles after step ``index[k]`` of ``cause`` at the earliest.
        Steps with a negative index do not wait.
        """
        here = np.flatnonzero(index >= 0)
        if len(here):
            self._rules.append((cause, here, index[here], delay if isinstance(delay, int) else delay[here]))

    def offered_like(self, other: Steps) -> None:
        """Wait for what ``other`` waits for so far, and begin with it."""
        self._rules += other._rules
        self.cycles = other.cycles.copy()

    def update(self) -> bool:
        """Move the cycles to the earliest that the causes' present cycles allow; return whether any changed."""
        cycles = self.cycles.copy()
        for cause, here, there, delay in self._rules:
            cycles[here] = np.maximum(cycles[here], cause.cycles[there] + delay)
        cycles -= self._pace
        np.maximum.accumulate(cycles, out=cycles)
        cycles += self._pace
        changed = not np.array_equal(cycles, self.cycles)
        self.cycles = cycles
        return changed


class Timeline:
    """All steps of a pipeline."""

    def __init__(self) -> None:
        self._all: list[Steps] = []

    def steps(self, count: int, *, gap: int = 1, start: int = NEVER) -> Steps:
        """Return ``count`` new steps, at least ``gap`` cycles apart, the first in the cycle ``start`` or later."""
        made = Steps(count, gap, start)
        self._all.append(made)
        return made

    def following(self, cause: Steps, delay: int, *, lag: int = 0) -> Steps:
        """Return as many new steps as ``cause`` has, each ``delay`` cycles after the one ``lag`` places before."""
        made = self.steps(len(cause))
        made.after(cause, delay, lag=lag)
        return made

    def solve(self) -> None:
        """Find the earliest cycles of all steps, along the pipeline and against it until none changes."""
        takers: dict[Steps, list[Steps]] = {each: [] for each in self._all}
        for each in self._all:
            for cause in each.causes:
                takers[cause].append(each)
        stale = set(self._all)
        order = self._all
        while stale:
            for each in order:
                if each in stale:
                    stale.discard(each)
                    if each.update():
                        stale.update(takers[each])
            order = order[::-1]
