"""Resets of a testbench: when each comes, for how long, and the traffic until then."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["RESET_LENGTHS", "Kind", "Trial", "stray_beats", "trials"]

RESET_LENGTHS = (1, 2, 3)
"""Cycles of resets."""

_STOPS = 9  # trials with a receiver that stops
_AROUND = range(-3, 2)  # cycles from the first results: when what they free is given back
_STRAYS = 10  # of the first group, and of later ones, at the most
_NOWHERE = 0xFFFFFFFF


class Kind(enum.Enum):
    """Kind of traffic in a trial."""

    FULL_RATE = 0
    STALLS = 1
    STOPPED = 2  # the receiver takes a few results
    STRAY = 3  # at full rate, with a tlast in the wrong place


@dataclass(frozen=True, kw_only=True)
class Trial:
    """From the end of one reset to the next one, which comes after `until` cycles and takes `cycles`.

    `stray` is the beat of A, counted from 0, whose tlast is turned over.
    """

    until: int
    cycles: int
    kind: Kind = Kind.FULL_RATE
    stray: int = _NOWHERE

    @property
    def call(self) -> str:
        """The statement that puts it into the testbench's memories."""
        return f"r({self.until}, {self.cycles}, {self.kind.value}, {'~0' if self.stray == _NOWHERE else self.stray});"


def trials(
    *, first: int, period: int, most: int, budget: int, full: int | None = None, strays: Sequence[int] = ()
) -> tuple[Trial, ...]:
    """Trials of at most about `budget` cycles; each is followed by one at full rate, which shows leftovers.

    At full rate the first results are there after `first` cycles, and from then on everything repeats every `period`:
    resets come in each of these cycles, or, where that would be too many, in evenly spaced ones, and before them,
    while the pipeline fills. None comes later than `most`. `full` are the cycles after which a receiver that
    stops has stopped everything, None where nothing can be stopped; `strays` the beats whose tlast may be turned.
    """
    share = budget // (len(RESET_LENGTHS) + 2)
    count = min(period, max(share // (first + period // 2), 4))
    long = [
        Trial(until=min(first + (index * period + turn * period // len(RESET_LENGTHS)) // count, most), cycles=length)
        for index in range(count)
        for turn, length in enumerate(RESET_LENGTHS)
    ]
    others = [*_filling(first, share), *_stalled(first, period, count)]
    if full is not None:
        others += _stopped(first, full)
    # the error is there two cycles after the beat was taken, and stays
    others += [
        Trial(until=min(beat + 8, most), cycles=1 + index % 3, kind=Kind.STRAY, stray=beat)
        for index, beat in enumerate(strays)
    ]
    freed = () if full is None else _freed(first, full)
    return (*freed, *_alternating(others, long))


def stray_beats(beats: int) -> list[int]:
    """Beats that end no group, of `beats` each: some of the first group, with its ends, and later ones, some of them
    as far from the group's end as one bit of its counter says.
    """
    if beats == 1:
        return []
    ends = beats - 1
    powers = [1 << power for power in range(10)]
    first = sorted({0, ends - 1, *(ends ^ power for power in powers if ends ^ power < ends)})
    second = sorted({ends - power for power in powers if power <= ends})
    return [*first[:_STRAYS], beats, *(beats + at for at in second[:_STRAYS] if at), 2 * beats + ends - 1]


def _filling(first: int, share: int) -> list[Trial]:
    """Resets before the first results."""
    step = max(1, first * first // max(share, 1))
    return [Trial(until=until, cycles=RESET_LENGTHS[until // step % 3]) for until in range(1, first, step)]


def _stalled(first: int, period: int, count: int) -> list[Trial]:
    return [
        Trial(until=first + first // 2 + index * period // count, cycles=RESET_LENGTHS[index % 3], kind=Kind.STALLS)
        for index in range(count)
    ]


def _freed(first: int, full: int) -> Iterator[Trial]:
    """Resets in the cycles in which the first results leave, each followed by a stop, which shows free places."""
    for index, after in enumerate(_AROUND):
        yield Trial(until=max(first + after, 1), cycles=1)
        yield Trial(until=2 * first + full, cycles=RESET_LENGTHS[index % 3], kind=Kind.STOPPED)


def _stopped(first: int, full: int) -> list[Trial]:
    return [
        Trial(
            until=first + max(full - first, 0) * index // (_STOPS - 1),
            cycles=RESET_LENGTHS[index % 3],
            kind=Kind.STOPPED,
        )
        for index in range(_STOPS)
    ]


def _alternating(others: Sequence[Trial], long: Sequence[Trial]) -> Iterator[Trial]:
    """Each of `others`, then one of `long`, from their beginning again where they are too few; all of both."""
    for index in range(max(len(others), len(long))):
        if index < len(others):
            yield others[index]
        yield long[index % len(long)]
