"""The same tasks on a dask.distributed cluster: `--scheduler tcp://host:8786`."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..errors import InputError, need
from .executor import Work
from .finding import Finding

__all__ = ["ClusterError", "DaskCluster"]

_PATIENCE = 10.0  # seconds for the scheduler to answer, and for a first worker
_POLL = 0.5
_LOST_WORKERS = 5  # deaths of its worker that a task survives; dask's own three count a killed pool quickly


class ClusterError(ConnectionError):
    """The scheduler is not there, or not any more."""


class DaskCluster:
    """Tasks run where the workers of the scheduler at `address` run; they need systoliq and the same tools.

    The workers' memory limit is their own (`--memory-limit`). If a worker is lost, dask gives its tasks to other
    workers. `work` does a task.
    """

    def __init__(self, address: str, work: Callable[[Any], list[Finding]], *, patience: float | None = None) -> None:
        patience = _PATIENCE if patience is None else patience
        distributed = need("distributed", "dask[distributed]", "--scheduler", extra="distributed")
        self.address = address
        self._patience = patience
        self._work = work
        try:
            self._client: Any = distributed.Client(address, timeout=patience, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise InputError(f"scheduler: no dask scheduler answers at {address!r}") from error
        try:
            self._client.wait_for_workers(1, timeout=patience)
        except TimeoutError as error:
            self._client.close(timeout=2)
            raise InputError(f"scheduler: {address!r} has no workers; start one: dask worker {address}") from error

    @property
    def jobs(self) -> int:
        """Number of tasks that run at the same time, as currently known."""
        return max(1, int(sum(self._client.nthreads().values())))

    def run(self, tasks: Sequence[Work]) -> Iterator[tuple[int, list[Finding]]]:
        """Run the tasks on the cluster."""
        finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
        futures = {}
        for index, task in enumerate(tasks):
            future = self._client.submit(self._work, task, pure=False, retries=_LOST_WORKERS, priority=-index)
            futures[future] = index
            future.add_done_callback(finished.put)
        left = len(futures)
        without_workers = 0.0
        while left:
            try:
                future = finished.get(timeout=_POLL)
            except queue.Empty:
                without_workers = self._watch(without_workers)
                continue
            left -= 1
            index = futures.pop(future)
            findings = self._findings(tasks[index], future)
            future.release()  # else dask would compute it again when the worker that holds it leaves
            yield index, findings

    def _findings(self, task: Work, future: Any) -> list[Finding]:
        if future.status == "finished":
            findings: list[Finding] = future.result(timeout=self._patience)
            return findings
        if future.status in ("cancelled", "lost"):
            raise self._gone()
        reason = " ".join(str(future.exception(timeout=self._patience)).split())[:400]
        return [Finding(status="failed", values={}, reason=f"{task.stage}: {reason}") for _ in task.points]

    def _watch(self, since: float) -> float:
        """Raise an error if there will never be a result; return the time since when there are no workers, or 0 if
        there are some.
        """
        if self._client.status != "running":
            raise self._gone()
        if self._client.nthreads():
            return 0.0
        if since and time.monotonic() - since > self._patience:
            raise ClusterError(f"scheduler: {self.address!r} has lost all its workers; finished points are kept")
        return since or time.monotonic()

    def _gone(self) -> ClusterError:
        return ClusterError(f"scheduler: {self.address!r} does not answer any more; finished points are kept")

    def close(self) -> None:
        """Cancel waiting tasks, and disconnect."""
        self._client.close(timeout=2)
