"""Workers of `systoliq explore`, by --jobs, --memory and --scheduler: for questions and for precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..explore.evaluate import Finding
from ..explore.executor import Executor, LocalProcesses

__all__ = ["workers"]

_GIB = 1 << 30


def workers(
    work: Callable[[Any], list[Finding]], jobs: int | None, memory: float | None, scheduler: str | None
) -> Executor | None:
    """Executor for `work`: the workers of a scheduler, or local processes; None by default."""
    if scheduler is not None:
        from ..explore.dask_cluster import DaskCluster

        return DaskCluster(scheduler, work=work)
    if jobs is None and memory is None:
        return None
    return LocalProcesses(jobs, None if memory is None else int(memory * _GIB), work=work)
