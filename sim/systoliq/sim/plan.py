"""What passes between the host and a bench inside the simulator: jobs in, outcomes out, as files in the run's folder.

The benches import this and not the hardware, which would cost them half a second.
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "PATTERN_CYCLES",
    "VARIABLE",
    "Flags",
    "Job",
    "Outcome",
    "Words",
    "read_jobs",
    "read_outcomes",
    "write_jobs",
    "write_outcomes",
]

VARIABLE = "SYSTOLIQ_PLAN"  # the folder, for the bench
PATTERN_CYCLES = 1 << 15  # after so many cycles a bulk run's pauses repeat
_JOBS = "jobs.npz"
_OUTCOMES = "outcomes.npz"

Words = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Job:
    """One run of a design: beats to send, what to expect, how to disturb it.

    `a`, `b`, `expected` and `mask` are words [beats, bytes]; `b` is there for the bare array only. `columns` is the
    number of sums in an expected word of the bare array: its columns come one after the other there, and word i
    holds sum i of each column. `stalls` are probabilities of a pause per cycle, of the sources and of the sink;
    `resets` the cycles after which the run is reset and begun again; `limit` the most cycles that it may take.
    `bulk` moves the beats inside the simulator.
    """

    a: Words
    a_last: Flags
    b: Words
    expected: Words
    expected_last: Flags
    mask: Words
    stalls: npt.NDArray[np.float64]
    resets: Integers
    seed: int
    limit: int
    bulk: bool


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """What a job gave.

    `words` [beats, bytes] and `last` are the beats taken; for the bare array `valid` holds which columns were (bytes of
    a bit mask). `wrong` counts the beats that the bench's checker found different, those before a reset included,
    `violations` are broken rules, and `first_cycle` and `last_cycle` the cycles of the first beat in and the last out.
    """

    words: Words
    last: Flags
    valid: Words
    wrong: int
    violations: tuple[str, ...]
    first_cycle: int
    last_cycle: int
    cycles: int
    seconds: float


def write_jobs(folder: Path, jobs: list[Job]) -> None:
    """Leave the jobs for the bench."""
    _write(folder / _JOBS, jobs)


def read_jobs() -> list[Job]:
    """The jobs, inside the simulator."""
    return _read(Path(os.environ[VARIABLE]) / _JOBS, Job)


def write_outcomes(outcomes: list[Outcome]) -> None:
    """Leave the outcomes for the host."""
    _write(Path(os.environ[VARIABLE]) / _OUTCOMES, outcomes)


def read_outcomes(folder: Path) -> list[Outcome] | None:
    """The outcomes; None where the bench did not come to leave them."""
    path = folder / _OUTCOMES
    return _read(path, Outcome) if path.is_file() else None


def _write(path: Path, items: list[Any]) -> None:
    arrays = {
        f"{index:04d}.{field.name}": np.asarray(getattr(item, field.name))
        for index, item in enumerate(items)
        for field in dataclasses.fields(item)
    }
    np.savez(path, **arrays)  # type: ignore[arg-type]


def _read(path: Path, kind: type[Any]) -> list[Any]:
    with np.load(path) as archive:
        arrays = {key: archive[key] for key in archive.files}
    items: dict[str, dict[str, Any]] = {}
    for key, value in arrays.items():
        index, _, name = key.partition(".")
        if name == "violations":
            items.setdefault(index, {})[name] = tuple(map(str, value))
        else:
            items.setdefault(index, {})[name] = value if value.ndim else value.item()
    return [kind(**items[index]) for index in sorted(items)]
