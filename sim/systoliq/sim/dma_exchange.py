"""Lists for the bench of a DMA engine, and their outcomes: pickled files, for one run.

The process that starts the simulator imports this module and not the bench, which needs cocotb.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from .pickled import leave, take

__all__ = [
    "CONNECTION", "PORTS", "VARIABLE", "Left", "ListOutcome", "ListWork", "Turn",
    "leave_lists", "leave_outcomes", "take_lists", "take_outcomes",
]  # fmt: skip

VARIABLE = "SYSTOLIQ_DMA_RUN"  # the folder, for the bench
CONNECTION = "SYSTOLIQ_MEMORY_CONNECTION"  # the number of its open file, for the bench
PORTS = ("a", "b", "list", "y")
_WORK, _OUTCOMES = "lists.pickle", "lists_done.pickle"


@dataclasses.dataclass(frozen=True, kw_only=True)
class ListWork:
    """A list for the bench: `memory` from address 0 on, with the list at `address`.

    Accesses to `broken` bytes are answered with an error, like accesses beyond the memory. `stalls` are the
    probabilities of a pause in a cycle, one for each of `PORTS`, and `latency` the cycles by which the memory answers
    later than at once; bursts may overlap. `registers` are addresses: name -> address; `before`
    and `recovery` are (address, value) to write, or (address, mask, value) to wait for.
    """

    memory: bytes
    address: int
    length: int
    registers: dict[str, int]
    before: Sequence[tuple[int, ...]]
    play: tuple[int, int]
    recovery: Sequence[tuple[int, ...]]
    broken: Sequence[tuple[int, int]] = ()
    stalls: Sequence[float] = (0, 0, 0, 0)
    latency: int = 0
    seed: int = 0
    limit: int = 100_000


@dataclasses.dataclass(kw_only=True)
class ListOutcome:
    """Outcome of a list: the memory, registers that were read, and the cycles from play to the interrupt."""

    memory: bytes = b""
    registers: dict[str, int] = dataclasses.field(default_factory=dict)
    timed_out: bool = False
    recovered: bool = True
    cycles: int = 0
    beats: dict[str, int] = dataclasses.field(default_factory=dict)


def leave_lists(folder: Path, work: Sequence[ListWork]) -> None:
    """Leave the lists for the bench."""
    leave(folder / _WORK, work)


def take_outcomes(folder: Path) -> list[ListOutcome] | None:
    """The outcomes; None where the bench did not come to leave them."""
    path = folder / _OUTCOMES
    return take(path) if path.is_file() else None


def take_lists(folder: Path) -> list[ListWork]:
    """The lists, for the bench."""
    return take(folder / _WORK)


def leave_outcomes(folder: Path, outcomes: Sequence[ListOutcome]) -> None:
    """Leave the outcomes for the process that started the bench."""
    leave(folder / _OUTCOMES, outcomes)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Turn:
    """A list, the (address, bytes) to write to memory before, and the (address, size) to read after it."""

    work: ListWork
    writes: Sequence[tuple[int, bytes]]
    reads: Sequence[tuple[int, int]]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Left:
    """The outcome of a list, and the bytes read after it."""

    outcome: ListOutcome
    data: tuple[bytes, ...]
