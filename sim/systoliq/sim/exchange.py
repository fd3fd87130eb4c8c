"""Exchange between the host and a bench inside the simulator: runs in, outcomes out, as files in the run's folder.

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
    "BenchOutcome",
    "BenchRun",
    "Flags",
    "Words",
    "read_outcomes",
    "read_runs",
    "write_outcomes",
    "write_runs",
]

VARIABLE = "SYSTOLIQ_RUNS"  # the folder, for the bench
PATTERN_CYCLES = 1 << 15  # period of the pauses of a bulk run
_RUNS = "runs.npz"
_OUTCOMES = "outcomes.npz"

Words = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class BenchRun:
    """One run of a design: beats to send, what to expect, how to disturb it.

    `a`, `b`, `expected` and `mask` are words [beats, bytes]; `b` is there for the bare array only, `mask` for the layer
    only. `stalls` are probabilities of a pause per cycle, of the sources and of the sink. The run is reset and
    restarted after each number of cycles in `resets`, and ends after at most `limit` cycles.
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


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class BenchOutcome:
    """Outcome of a run.

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


def write_runs(folder: Path, runs: list[BenchRun]) -> None:
    """Leave the runs for the bench."""
    _write(folder / _RUNS, runs)


def read_runs() -> list[BenchRun]:
    """The runs, inside the simulator."""
    return _read(Path(os.environ[VARIABLE]) / _RUNS, BenchRun)


def write_outcomes(outcomes: list[BenchOutcome]) -> None:
    """Leave the outcomes for the host."""
    _write(Path(os.environ[VARIABLE]) / _OUTCOMES, outcomes)


def read_outcomes(folder: Path) -> list[BenchOutcome] | None:
    """The outcomes; None where the bench did not come to leave them."""
    path = folder / _OUTCOMES
    return _read(path, BenchOutcome) if path.is_file() else None


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
