"""Exchange between the host and a bench inside the simulator: runs in, outcomes out, as files in the run's folder.

The benches import this and not the hardware, which would cost them half a second.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "PATTERN_CYCLES",
    "VARIABLE",
    "Beats",
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


@dataclasses.dataclass(frozen=True, eq=False)
class Beats:
    """Beats of a stream: `words` [beats, bytes], and for each whether it is the last one of its group or image."""

    words: Words
    last: Flags


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class BenchRun:
    """One run of a design: beats to send, what to expect, how to disturb it.

    `a`, `b`, `expected` and `mask` are words [beats, bytes]; `b` is there for the bare array only, `mask` for the layer
    only. `stalls` are probabilities of a pause per cycle, of the sources and of the sinks. The run is reset and
    restarted after each number of cycles in `resets`, and ends after at most `limit` cycles.

    A network with several inputs or outputs has the first of them in `a` and `expected`, the others in `more_inputs`
    and `more_expected`.
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
    more_inputs: tuple[Beats, ...] = ()
    more_expected: tuple[Beats, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class BenchOutcome:
    """Outcome of a run.

    `words` [beats, bytes] and `last` are the beats taken; for the bare array `valid` holds which columns were (bytes of
    a bit mask). `wrong` counts the beats that the bench's checker found different, those before a reset included,
    `violations` are broken rules, and `first_cycle` and `last_cycle` the cycles of the first beat in and the last out.
    `more_outputs` are the beats of a network's outputs after the first.
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
    more_outputs: tuple[Beats, ...] = ()


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
        f"{index:04d}.{name}": array
        for index, item in enumerate(items)
        for field in dataclasses.fields(item)
        for name, array in _named(field.name, getattr(item, field.name))
    }
    np.savez(path, **arrays)  # type: ignore[arg-type]


def _named(name: str, value: Any) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """The arrays of a field; beats are NAME.INDEX.words and NAME.INDEX.last."""
    if not name.startswith("more_"):
        yield name, np.asarray(value)
        return
    for index, beats in enumerate(value):
        yield f"{name}.{index:04d}.words", beats.words
        yield f"{name}.{index:04d}.last", beats.last


def _read(path: Path, kind: type[Any]) -> list[Any]:
    with np.load(path) as archive:
        arrays = {key: archive[key] for key in archive.files}
    items: dict[str, dict[str, Any]] = {}
    for key, value in sorted(arrays.items()):
        index, name, *place = key.split(".")
        fields = items.setdefault(index, {})
        if name == "violations":
            fields[name] = tuple(map(str, value))
        elif not place:
            fields[name] = value if value.ndim else value.item()
        elif place[1] == "words":
            last = arrays[f"{index}.{name}.{place[0]}.last"]
            fields[name] = (*fields.get(name, ()), Beats(value, last))
    return [kind(**items[index]) for index in sorted(items)]
