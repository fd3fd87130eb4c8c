"""The program of the engine's testbench: the driver's sequence for each job, errors, clears and resets.

A step is a statement that puts it into the testbench's program: `p(WHAT, x, y, z);`, see `engine_testbench`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

import numpy as np

from systoliq.hw.engine import ERRORS, EngineConfig
from systoliq.hw.engine.host import DriverStep, Map, sequence

from .stimulus import EngineJob

__all__ = ["EngineProgram"]

_MAP = Map()
_ALL = 0xFFFFFFFF


class EngineProgram:
    """The program for `jobs`, and all words and bytes of its streams: `a_beats`, `b_beats`, `y_bytes`, in one piece."""

    def __init__(self, config: EngineConfig, jobs: Sequence[EngineJob]) -> None:
        self.config = config
        self.jobs = list(jobs)
        self.a_beats = [beat for job in jobs for beat in job.a_beats]
        self.b_beats = [beat for job in jobs for beat in job.b_beats]
        self.y_bytes = b"".join(job.y_bytes for job in jobs)
        self._from = {
            stream: [0, *accumulate(len(getattr(job, stream)) for job in jobs)]
            for stream in ("a_beats", "b_beats", "y_bytes")
        }
        early = next(job for job in self.jobs if len(job.a_beats) > 1)  # sent once more, with tlast on its first word
        self._early = self.jobs.index(early), len(self.a_beats)
        self.a_beats += [replace(early.a_beats[0], last=True), *early.a_beats[1:]]

    def steps(self) -> Iterator[str]:
        """All of it; then it is done again in the next phase."""
        every, drains, last = range(len(self.jobs)), len(self.jobs) - 2, len(self.jobs) - 1
        for index in every:
            yield from self._whole(index)
        yield from self._twice(drains)
        yield from self._refused(last)
        yield from self._whole(last)
        yield from self._ended_early()
        yield from self._whole(last)
        yield from self._started_while_busy(drains)
        for interruption in (self._cleared(), _reset()):
            for when in (0, len(self.jobs[drains].y_bytes) // 2):
                yield from self._begun(drains)
                yield _p("PAUSE", 7) if when == 0 else _p("REACH", self._from["y_bytes"][drains] + when)
                yield from interruption
                yield from self._whole(last)
        yield _p("PAUSE", 200)  # in which nothing more may come
        yield _p("AGAIN")

    def _carried_out(self, index: int, steps: Sequence[DriverStep]) -> Iterator[str]:
        """The driver's steps, as the testbench's."""
        job = self.jobs[index]
        for step in steps:
            if step.action == "write":
                yield _p("WRITE", step.address, step.value)
            elif step.action == "fill":
                words = np.frombuffer(step.data, "<u4").tolist()
                yield from (_p("WRITE", step.address + 4 * i, word) for i, word in enumerate(words))
            elif step.action == "receive":
                yield self._stream("TAKE", "y_bytes", index)
            elif step.action == "send":
                yield self._stream(f"SEND_{step.name.upper()}", f"{step.name}_beats", index)
            elif step.action == "wait":
                yield _p("INTERRUPT")
            elif step.name == "STATUS":
                yield _status(done=1)
            elif step.name == "BUSY_CYCLES":
                yield _p("MEASURE", step.address, job.cycles)

    def _stream(self, what: str, stream: str, index: int) -> str:
        start, stop = self._from[stream][index : index + 2]
        return _p(what, start, stop, index if what == "TAKE" else 0)

    def _split(self, index: int) -> tuple[list[DriverStep], list[DriverStep]]:
        """The driver's steps up to the start, and those after it."""
        steps = sequence(self.jobs[index].job, self.config)
        start = next(i for i, step in enumerate(steps) if (step.action, step.name) == ("write", "CONTROL"))
        return steps[: start + 1], steps[start + 1 :]

    def _whole(self, index: int) -> Iterator[str]:
        yield from self._carried_out(index, sequence(self.jobs[index].job, self.config))

    def _begun(self, index: int) -> Iterator[str]:
        yield from self._carried_out(index, self._split(index)[0])

    def _twice(self, index: int) -> Iterator[str]:
        """A job and at once another: its operands wait already, and nothing is written but the start."""
        before, after = self._split(index)
        yield from self._carried_out(index, before)
        yield self._stream("SEND_A", "a_beats", index)
        yield self._stream("SEND_B", "b_beats", index)
        yield from self._carried_out(index, after)
        yield self._stream("TAKE", "y_bytes", index)
        yield _write("CONTROL", start=1)
        yield from self._carried_out(index, after)

    def _refused(self, index: int) -> Iterator[str]:
        """A job without rows."""
        settings = [step for step in self._split(index)[0] if step.action == "write" and step.name != "M"]
        yield _write("M", m=0)
        yield from self._carried_out(index, settings)
        yield from _failed("ILLEGAL_SHAPE")

    def _ended_early(self) -> Iterator[str]:
        """A job whose A ends with its first word."""
        index, first = self._early
        for step in self._split(index)[0]:
            if (step.action, step.name) == ("send", "a"):
                yield _p("SEND_A", first, len(self.a_beats))
            else:
                yield from self._carried_out(index, [step])
        yield from _failed("A_ENDED_EARLY")

    def _started_while_busy(self, index: int) -> Iterator[str]:
        """A job, started a second time while it runs: it goes on undisturbed."""
        before, after = self._split(index)
        yield from self._carried_out(index, before[:-1])
        yield _write("INTERRUPT", on_done=1)
        yield _write("CONTROL", start=1)
        yield _write("CONTROL", start=1)
        for step in after:
            if step.name == "STATUS":
                yield _status(done=1, error=ERRORS["START_WHILE_BUSY"][0])
            else:
                yield from self._carried_out(index, [step])
        yield _status()

    @staticmethod
    def _cleared() -> list[str]:
        """The job is given up; what it still gives is taken until it is over."""
        status = _MAP.write("STATUS", busy=1)
        return [
            _p("DROP"),
            _write("CONTROL", clear=1),
            _p("POLL", status.address, status.value),
            _p("STOP"),
            _status(),
        ]


def _failed(error: str) -> Iterator[str]:
    """An error is reported, and the driver recovers from it."""
    mask = _MAP.register("STATUS").field("error").mask
    code = _MAP.write("STATUS", error=ERRORS[error][0])
    yield _p("INTERRUPT")
    yield _p("READ", code.address, code.value, mask)
    yield from EngineProgram._cleared()


def _reset() -> list[str]:
    return [_p("RESET")]


def _write(name: str, **fields: int) -> str:
    step = _MAP.write(name, "", **fields)
    return _p("WRITE", step.address, step.value)


def _status(**fields: int) -> str:
    step = _MAP.write("STATUS", "", **fields)
    return _p("READ", step.address, step.value, _ALL)


def _p(what: str, x: int = 0, y: int = 0, z: int = 0) -> str:
    values = (f"'h{value:x}" if value > 9 else str(value) for value in (x, y, z))
    return f"p({what}, {', '.join(values)});"
