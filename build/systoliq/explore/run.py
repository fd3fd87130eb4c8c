"""`Run`: how a question is worked on. The three questions share its fields."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from systoliq.sim.runner import SimulatorName

from ..errors import InputError
from .cache import Store
from .executor import Executor, LocalProcesses
from .finding import Finding
from .progress import NoProgress, Progress
from .synthesizer import Synthesizer

__all__ = ["Run"]

_GIB = 1 << 30


@dataclass(frozen=True, kw_only=True)
class Run:
    """Effort, workers, cache and progress of one exploration; each question uses the fields that apply to it.

    Parameters
    ----------
    budget
        maximum number of points, of which a larger grid is sampled, or of mixed widths. Default: 2000 points; no mixed
        widths, or 200 for a required accuracy.
    synthesis, place
        number of points of each target to synthesize, and to place and route; number of plans to place and route.
    seeds
        seeds of place and route.
    seconds
        time after which no further plan is placed and no further mixed width is tried. Default: no limit.
    cosimulate
        simulate the front of a grid, or the selected plan if it was placed or has inputs.
    batch
        inputs of a batch, in the cycle model and in cosimulation.
    simulator
        "verilator" or "icarus".
    liberty, mhz
        standard-cell library of the target generic, and the clock for which gates are sized. Default: the target's.
    synthesizer
        measures area and frequency. Default: Yosys with nextpnr or OpenSTA.
    jobs, memory
        number of local processes, and the memory limit of each in GiB. Default: as processors and memory allow; plans
        and widths are then evaluated in this process.
    scheduler
        address of a dask scheduler whose workers replace local processes.
    cache
        directory for finished work. Default: `explore` in systoliq's cache.
    progress
        receives reports on progress.

    Raises
    ------
    InputError
        if a number is out of range.
    """

    budget: int | None = None
    synthesis: int = 0
    place: int = 0
    seeds: int = 3
    seconds: float | None = None
    cosimulate: bool = True
    batch: int = 64
    simulator: SimulatorName = "verilator"
    liberty: Path | None = None
    mhz: float | None = None
    synthesizer: Synthesizer | None = None
    jobs: int | None = None
    memory: float | None = None
    scheduler: str | None = None
    cache: Path | None = None
    progress: Progress = field(default_factory=NoProgress)

    def __post_init__(self) -> None:
        for name, least in (("batch", 1), ("seeds", 1), ("synthesis", 0), ("place", 0)):
            if getattr(self, name) < least:
                raise InputError(f"{name} must be at least {least}, not {getattr(self, name)}")
        if self.seconds is not None and not self.seconds > 0:
            raise InputError(f"seconds must be positive, not {self.seconds:g}")
        if self.memory is not None and not self.memory >= 0:
            raise InputError(f"memory must be a number of GiB, not {self.memory}")

    @property
    def store(self) -> Store:
        """The store of finished work."""
        return Store(self.cache)

    def executor(self, work: Callable[[Any], list[Finding]]) -> Executor:
        """Return an executor for `work`: the workers of the scheduler, or local processes."""
        if self.scheduler is not None:
            from .dask_cluster import DaskCluster

            return DaskCluster(self.scheduler, work)
        return LocalProcesses(work, jobs=self.jobs, memory=None if self.memory is None else int(self.memory * _GIB))

    @contextlib.contextmanager
    def workers(self, work: Callable[[Any], list[Finding]]) -> Iterator[Executor | None]:
        """Open an executor for `work` and close it at the end; None, for this process, if no workers are given."""
        if self.scheduler is None and self.jobs is None and self.memory is None:
            yield None
            return
        with contextlib.closing(self.executor(work)) as executor:
            yield executor
