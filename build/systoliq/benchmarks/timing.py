"""Wall and processor seconds of a benchmark's calls."""

from __future__ import annotations

import dataclasses
import resource
import statistics
import time
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["Timed", "timed"]

_T = TypeVar("_T")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Timed(Generic[_T]):
    """Medians of wall and processor seconds, including child processes, and the last result."""

    seconds: float
    cpu_seconds: float
    result: _T


def timed(function: Callable[[], _T], repeat: int) -> Timed[_T]:
    """Call `function` `repeat` times."""
    walls, cpus = [], []
    for _ in range(repeat):
        cpu, wall = _cpu_seconds(), time.perf_counter()
        result = function()
        walls.append(time.perf_counter() - wall)
        cpus.append(_cpu_seconds() - cpu)
    return Timed(seconds=statistics.median(walls), cpu_seconds=statistics.median(cpus), result=result)


def _cpu_seconds() -> float:
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )
