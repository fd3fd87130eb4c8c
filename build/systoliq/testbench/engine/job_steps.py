"""Steps of an engine's testbench for one job: the driver's sequence, whole or in parts, clears, and what STATUS says.

A step is a statement that puts it into the testbench's program: `p(WHAT, x, y, z);`, see `engine_testbench`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

import numpy as np

from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.host import DriverStep, Entries, Map, sequence

from ..driver import put_step as _p
from .stimulus import EngineJob

__all__ = ["ALL", "JobSteps"]

ALL = 0xFFFFFFFF
_MEASURED = {"BUSY_CYCLES": 1, "OUTPUT_STALLS": 2}


class JobSteps:
    """Steps for `jobs`, and all words and bytes of their streams: `a_beats`, `b_beats`, `y_bytes`, in one piece."""

    def __init__(self, config: EngineConfig, jobs: Sequence[EngineJob]) -> None:
        self.config = config
        self.jobs = list(jobs)
        self.map = Map.of(config)
        self.a_beats = [beat for job in jobs for beat in job.a_beats]
        self.b_beats = [beat for job in jobs for beat in job.b_beats]
        self.y_bytes = b"".join(job.y_bytes for job in jobs)
        self.starts = {
            stream: [0, *accumulate(len(getattr(job, stream)) for job in jobs)]
            for stream in ("a_beats", "b_beats", "y_bytes")
        }

    def carried_out(self, index: int, steps: Sequence[DriverStep], *, held: bool = False) -> Iterator[str]:
        """The driver's steps, as the testbench's; `held`: the job takes longer than the cycle model says."""
        job = self.jobs[index]
        for step in steps:
            if step.action == "write":
                yield _p("WRITE", step.address, step.value)
            elif step.action == "fill":
                words = np.frombuffer(step.data, "<u4").tolist()
                yield from (_p("WRITE", step.address + 4 * i, word) for i, word in enumerate(words))
            elif step.action == "receive":
                yield self.stream("TAKE", "y_bytes", index)
            elif step.action == "send":
                yield self.stream(f"SEND_{step.name.upper()}", f"{step.name}_beats", index)
            elif step.action == "wait":
                yield _p("INTERRUPT")
            elif step.name == "STATUS":
                yield self.status(done=1)
            elif step.name in _MEASURED:
                cycles = job.cycles if step.name == "BUSY_CYCLES" and not held else 0
                yield _p("MEASURE", step.address, cycles, _MEASURED[step.name])

    def stream(self, what: str, stream: str, index: int) -> str:
        """The step `what` for all of a job's words or bytes."""
        start, stop = self.starts[stream][index : index + 2]
        return _p(what, start, stop, index if what == "TAKE" else 0)

    def split(self, index: int, entries: Entries | None = None) -> tuple[list[DriverStep], list[DriverStep]]:
        """The driver's steps up to the start, and those after it."""
        steps = sequence(self.jobs[index].job, self.config, entries=entries)
        start = next(i for i, step in enumerate(steps) if (step.action, step.name) == ("write", "CONTROL"))
        return steps[: start + 1], steps[start + 1 :]

    def whole(self, index: int, entries: Entries | None = None) -> Iterator[str]:
        """All of a job, whose tables begin at `entries`."""
        yield from self.carried_out(index, sequence(self.jobs[index].job, self.config, entries=entries))

    def started(self, index: int) -> Iterator[str]:
        """A job is begun whose settings and tables are there."""
        yield self.stream("TAKE", "y_bytes", index)
        yield self.stream("SEND_A", "a_beats", index)
        yield self.stream("SEND_B", "b_beats", index)
        yield self.write("CONTROL", start=1)

    def again(self, index: int) -> Iterator[str]:
        """A whole job whose settings and tables are there."""
        yield from self.started(index)
        yield from self.carried_out(index, self.split(index)[1])

    def settings(self, index: int, **shape: int) -> Iterator[str]:
        """The settings of a job, but for M, K, N where they are given."""
        for step in self.split(index)[0]:
            name = step.name.lower()
            if step.action == "write" and name != "control":
                yield _p("WRITE", step.address, shape.get(name, step.value))

    def cleared(self) -> Iterator[str]:
        """The job is cancelled; its remaining results are taken until it ends."""
        busy = self.map.write("STATUS", busy=1)
        yield _p("DROP")
        yield self.write("CONTROL", clear=1)
        yield _p("POLL", busy.address, busy.value)
        yield _p("STOP")
        yield self.status(jobs=0)

    def write(self, name: str, **fields: int) -> str:
        """A write of a register's fields; the others are 0."""
        step = self.map.write(name, "", **fields)
        return _p("WRITE", step.address, step.value)

    def status(self, *, jobs: int | None = None, **fields: int) -> str:
        """STATUS with all other fields 0, and the number of ended jobs if it is known."""
        step = self.map.write("STATUS", "", **fields, jobs=jobs or 0)
        counted = self.map.register("STATUS").field("jobs").mask if jobs is None else 0
        return _p("READ", step.address, step.value, ALL & ~counted)
