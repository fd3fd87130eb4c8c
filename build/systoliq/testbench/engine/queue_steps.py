"""Steps of an engine's testbench for the queue: a job behind another, settings written early, and tables' last entries.

See `JobSteps`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from systoliq.hw.engine import ERRORS
from systoliq.hw.engine.host import DriverStep, Entries, column_words, row_words

from ..driver import put_step as _p
from .job_steps import ALL, JobSteps

__all__ = ["COUNTERS", "QueueSteps"]

COUNTERS = ("BUSY_CYCLES", "INPUT_STALLS", "OUTPUT_STALLS")
"""Registers that count cycles."""


class QueueSteps(JobSteps):
    """Steps for jobs that follow each other."""

    def rewritten(self, index: int) -> Iterator[str]:
        """A job whose settings are all written with other values while it waits for its words."""
        before, after = self.split(index)
        yield from self.carried_out(index, [step for step in before if step.action != "send"])
        yield from (_p("WRITE", step.address, ~step.value & ALL) for step in _settings(before))
        yield self.stream("SEND_A", "a_beats", index)
        yield self.stream("SEND_B", "b_beats", index)
        yield from self.carried_out(index, [step for step in after if step.name not in COUNTERS])

    def queued(self, first: int, second: int, ahead: str) -> Iterator[str]:
        """Two jobs; the second is written and started while the first waits for its words. Its tables follow the first
        job's, if there is room for both. A third start comes too soon. The second job's words of the operand `ahead`
        come right behind the first job's, so that they are taken while that one computes.
        """
        entries = self.entries(first)
        if entries is None or self.entries(second, entries) is None:
            second, entries = first, Entries()
        before, after = self.split(first)
        more, _ = self.split(second, entries)
        settings = _settings(more)
        yield self.write("CONTROL", clear=1)
        yield from self.carried_out(first, [step for step in before[:-1] if step.action != "send"])
        yield self.write("INTERRUPT", on_done=1)
        yield self.write("CONTROL", start=1)
        if second != first:
            yield from self.carried_out(second, [step for step in more if step.action == "fill"])
        yield from (_p("WRITE", step.address, step.value) for step in settings)
        yield self.write("CONTROL", start=1)
        for register in ("M", "K", "N"):
            yield self.write(register)
        yield from (_p("READ", step.address, step.value, ALL) for step in settings)
        yield self.write("CONTROL", start=1)
        error = ERRORS["QUEUE_FULL"][0]  # which keeps no job from its turn
        yield self.status(busy=1, queued=1, error=error, jobs=0)
        yield self.stream("SEND_A", "a_beats", first)
        yield self.stream("SEND_B", "b_beats", first)
        yield self.stream(f"SEND_{ahead.upper()}", f"{ahead}_beats", second)
        yield _p("REACH", self.starts["y_bytes"][first + 1])
        yield self.stream("TAKE", "y_bytes", second)
        yield _p("INTERRUPT")
        yield self.status(busy=1, done=1, error=error, jobs=1)
        yield self.write("INTERRUPT", on_done=1, on_error=1)
        yield _p("INTERRUPT")  # for both reasons
        yield self.write("CONTROL", acknowledge=1)
        yield self.status(busy=1, jobs=1)
        behind = "b" if ahead == "a" else "a"
        yield self.stream(f"SEND_{behind.upper()}", f"{behind}_beats", second)
        for step in after:
            if step.name == "STATUS":
                yield self.status(done=1, jobs=2)
            elif step.name not in COUNTERS:  # of both jobs, and the wait between them
                yield from self.carried_out(second, [step])
        yield self.status(jobs=2)

    def entries(self, index: int, begin: Entries | None = None) -> Entries | None:
        """The first entries after a job's, if its own begin there; None if the tables have no room."""
        job, begin = self.jobs[index].job, begin or Entries()
        columns = begin.column + len(column_words(job, self.config, self.map.column_table))
        of_rows = row_words(job, self.config, self.map.row_table)
        rows = begin.row + (len(of_rows) if of_rows else 0)
        fits = columns <= self.config.table_words and rows <= self.config.max_rows
        return Entries(column=columns, row=rows) if fits else None

    def with_last_entries(self, index: int) -> Iterator[str]:
        """A job whose entries are the last ones of both tables."""
        behind = self.entries(index)
        if behind is not None:
            last = Entries(column=self.config.table_words - behind.column, row=self.config.max_rows - behind.row)
            yield from self.whole(index, last)


def _settings(steps: Sequence[DriverStep]) -> list[DriverStep]:
    """The writes of a job's settings among the driver's steps."""
    return [step for step in steps if step.action == "write" and step.name not in ("INTERRUPT", "CONTROL")]
