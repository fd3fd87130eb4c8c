"""The queue: jobs one behind the other, each one's settings and tables written while those before it run."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Sequence

from ..config import EngineConfig
from .driver import DriverStep, Map, filled, settings, transfers
from .job import AnyJob
from .tables import Entries, TableWords, column_words, row_words

__all__ = ["queue_sequence"]


def queue_sequence(jobs: Sequence[AnyJob], config: EngineConfig, registers: Map | None = None) -> list[DriverStep]:
    """Steps that run `jobs` in order, from an engine that is not busy; an error in STATUS calls for `recovery`.

    The job that failed is number STATUS.jobs; those before it have ended, those behind it are dropped by the recovery.
    A job is written and started while the one before it runs: it waits in the queue. Its tables follow the tables of
    the jobs before it, and are written once the jobs that used these entries have ended. If those are known to have
    ended, the tables come first, and the wait for the previous job to begin comes after them. A job shares the tables
    of an earlier job if they are equal.
    """
    registers = registers or Map.of(config)
    columns, rows = _Ring(config.table_words), _Ring(config.max_rows)
    steps = [registers.write("CONTROL", "jobs count from 0", clear=1), registers.poll("STATUS", "busy")]
    for index, job in enumerate(jobs):
        of_columns = columns.place(column_words(job, config, registers.column_table), index)
        of_rows = rows.place(row_words(job, config, registers.row_table), index)
        after = max(of_columns.after, of_rows.after)
        tables = [*filled(of_columns.words, of_columns.first), *filled(of_rows.words, of_rows.first)]
        early = after <= max(index - 2, 0)  # by then, the wait before the job before has seen these jobs end
        wait = max(after, index - 1)  # then only the job before is there, and not queued
        steps += [
            *(tables if early else []),
            *([_ended(registers, wait)] if wait > 0 else []),
            *([] if early else tables),
            *transfers(index),
            *settings(job, config, registers, Entries(column=of_columns.first, row=of_rows.first)),
            registers.write("CONTROL", start=1),
        ]
    return [
        *steps,
        _ended(registers, len(jobs)),
        registers.read("STATUS", "with an error: clear, wait until busy is 0, stop the transfers, and report it"),
        registers.read("BUSY_CYCLES"),
        registers.read("INPUT_STALLS"),
        registers.read("OUTPUT_STALLS"),
        registers.write("CONTROL", acknowledge=1),
    ]


def _ended(registers: Map, jobs: int) -> DriverStep:
    """Wait until `jobs` jobs have ended."""
    return DriverStep(action="jobs", name="STATUS", address=registers.register("STATUS").offset, value=jobs)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Place:
    """Entries from `first` on, free once `after` jobs have ended; `words` to be written there, None where they are."""

    first: int = 0
    after: int = 0
    words: TableWords | None = None


@dataclasses.dataclass(kw_only=True)
class _Held:
    """`count` entries from `first` on that hold `content`; `last` is the last job that uses them."""

    first: int
    count: int
    content: tuple[bytes, int]
    last: int


class _Ring:
    """Contents of the `size` entries of a table, the oldest first."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._held: deque[_Held] = deque()
        self._next = 0

    def place(self, words: TableWords | None, job: int) -> _Place:
        """First entry for the tables of job number `job`."""
        if words is None:
            return _Place()
        for held in self._held:
            if held.content == words.content:
                held.last = job
                return _Place(first=held.first)
        count, after = len(words), 0
        free = self._size - sum(held.count for held in self._held)
        while free < count:
            oldest = self._held.popleft()
            free += oldest.count
            after = max(after, oldest.last + 1)
        place = _Place(first=self._next, after=after, words=words)
        self._held.append(_Held(first=self._next, count=count, content=words.content, last=job))
        self._next = (self._next + count) % self._size
        return place
