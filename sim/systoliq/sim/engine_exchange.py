"""Work for the bench of the engine, and its outcomes: pickled files, each only for the other end of one run.

The process that starts the simulator imports this module and not the bench, which needs cocotb.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from .pickled import leave, take

__all__ = ["VARIABLE", "JobOutcome", "Work", "leave_outcomes", "leave_work", "take_outcomes", "take_work"]

VARIABLE = "SYSTOLIQ_ENGINE_RUN"  # the folder, for the bench
_WORK, _OUTCOMES = "work.pickle", "outcomes.pickle"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Work:
    """One job for the bench, or several that are queued.

    `steps` and `recovery` are (action, name, address, value, data) of `DriverStep`s; `words` are sent on "a" and "b",
    for each job; `stalls` are the probabilities of a pause in a cycle of A, B and Y. `error` and `jobs` are the masks
    of STATUS.error and STATUS.jobs.
    """

    steps: Sequence[tuple[str, str, int, int, bytes]]
    recovery: Sequence[tuple[str, str, int, int, bytes]]
    words: Sequence[dict[str, list[int]]]
    error: int
    jobs: int
    stalls: tuple[float, float, float]
    seed: int
    limit: int


@dataclasses.dataclass(kw_only=True)
class JobOutcome:
    """Outcome of the jobs: bytes of Y of each completed job, registers read, and violations."""

    frames: list[bytes] = dataclasses.field(default_factory=list)
    registers: dict[str, int] = dataclasses.field(default_factory=dict)
    violations: list[str] = dataclasses.field(default_factory=list)
    timed_out: bool = False
    cycles: int = 0  # of the simulator, tables and all
    seconds: float = 0.0

    @property
    def y(self) -> bytes | None:
        """Bytes of Y of the first job, None where it came to no end."""
        return self.frames[0] if self.frames else None


def leave_work(folder: Path, work: Sequence[Work]) -> None:
    """Leave the jobs for the bench."""
    leave(folder / _WORK, work)


def take_outcomes(folder: Path) -> list[JobOutcome] | None:
    """The outcomes; None where the bench did not come to leave them."""
    path = folder / _OUTCOMES
    return take(path) if path.is_file() else None


def take_work(folder: Path) -> list[Work]:
    """The jobs, for the bench."""
    return take(folder / _WORK)


def leave_outcomes(folder: Path, outcomes: Sequence[JobOutcome]) -> None:
    """Leave the outcomes for the process that started the bench."""
    leave(folder / _OUTCOMES, outcomes)
