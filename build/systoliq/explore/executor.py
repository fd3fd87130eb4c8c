"""Executor: tasks go out to local processes, findings come back as they are finished."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Protocol

from systoliq.subprocesses import end_children

from ..errors import InputError
from .finding import Finding

__all__ = ["Executor", "LocalProcesses", "Work", "default_jobs"]

_ATTEMPTS = 2  # of a task whose process ended
_GIB = 1 << 30
_USUAL_MEMORY = 2 * _GIB  # that place and route of a small device asks for
_SECONDS_TO_END = 2.0  # for a process that computes; one that waits for a tool ends at once
_PARENT_DIED = 1  # PR_SET_PDEATHSIG


class Work(Protocol):
    """A task; the executor only knows its stage, and the number of points that it has findings for."""

    @property
    def stage(self) -> str:
        """One word."""

    @property
    def points(self) -> Sequence[Any]:
        """One finding each."""


class Executor(Protocol):
    """Place where tasks run."""

    def run(self, tasks: Sequence[Work]) -> Iterator[tuple[int, list[Finding]]]:
        """Run the tasks in any order; give the index and the findings of each as it is finished."""

    def close(self) -> None:
        """End all running tasks."""


def default_jobs() -> int:
    """Default number of processes, limited by processors and memory."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(processors, _physical_memory() // _USUAL_MEMORY))


def _physical_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):  # not every system reports it
        return 8 * _GIB


class LocalProcesses:
    """`jobs` processes, each with at most `memory` bytes (default: its share of three quarters).

    The limit holds for each process that a tool starts, too. If a process ends (out of memory, killed), its task loses
    one of two attempts; other tasks are not affected. `work` does a task.
    """

    def __init__(
        self, work: Callable[[Any], list[Finding]], *, jobs: int | None = None, memory: int | None = None
    ) -> None:
        if jobs is not None and jobs < 1:
            raise InputError(f"jobs must be at least 1, not {jobs}")
        if memory is not None and memory < _GIB // 2:
            raise InputError(f"memory must be at least 0.5 GiB for each process, not {memory / _GIB:g}")
        self.jobs = default_jobs() if jobs is None else jobs
        self.memory = _physical_memory() * 3 // 4 // self.jobs if memory is None else memory
        self._work = work
        self._pool: ProcessPoolExecutor | None = None

    def run(self, tasks: Sequence[Work]) -> Iterator[tuple[int, list[Finding]]]:
        """Run the tasks; the first ones first."""
        waiting = list(range(len(tasks)))[::-1]
        alone: list[int] = []  # were running when a process ended: each is retried alone
        attempts = [0] * len(tasks)
        running: dict[Future[list[Finding]], int] = {}
        try:
            while waiting or alone or running:
                room = self.jobs if not alone or waiting else 1
                while len(running) < room and (waiting or alone):
                    index = waiting.pop() if waiting else alone.pop()
                    attempts[index] += 1
                    running[self._open().submit(self._work, tasks[index])] = index
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    index = running.pop(future)
                    try:
                        findings = future.result()
                    except BrokenProcessPool:
                        self.close()
                        if attempts[index] < _ATTEMPTS:
                            alone.append(index)
                        else:
                            yield index, _ended(tasks[index], self.memory)
                        continue
                    yield index, findings
        except BaseException:  # Ctrl-C, or the caller's own
            self.close()
            raise

    def close(self) -> None:
        """End the processes and their children."""
        if self._pool is None:
            return
        pool, self._pool = self._pool, None
        children = [child.pid for child in multiprocessing.active_children() if child.name.startswith("Spawn")]
        pool.shutdown(wait=False, cancel_futures=True)
        for number in (signal.SIGTERM, signal.SIGKILL):  # the first ends their children, too
            for pid in children:
                if pid is not None:
                    with contextlib.suppress(OSError):
                        os.killpg(pid, number)
            deadline = time.monotonic() + _SECONDS_TO_END
            while multiprocessing.active_children() and time.monotonic() < deadline:
                time.sleep(0.01)

    def _open(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self.jobs,
                mp_context=multiprocessing.get_context("spawn"),  # no locks or threads of the parent's come along
                initializer=_begin,
                initargs=(self.memory, os.getpid()),
            )
        return self._pool


def _ended(task: Work, memory: int) -> list[Finding]:
    reason = f"{task.stage}: its process ended {_ATTEMPTS} times (out of memory? the limit is {memory / _GIB:.1f} GiB)"
    return [Finding(status="failed", values={}, reason=reason) for _ in task.points]


def _begin(memory: int, parent: int) -> None:
    """Initialize a worker: its own process group, an end when the parent ends, a memory limit, one thread."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, who ends this group
    signal.signal(signal.SIGTERM, _end)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # not on Windows

        # Written memory counts, not address space: WebAssembly tools reserve a lot of that
        resource.setrlimit(resource.RLIMIT_DATA, (memory, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PARENT_DIED, signal.SIGTERM)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    _end()


def _end(*_: object) -> None:
    """End all children of this process, each in its own process group, and this process."""
    end_children()
    os.killpg(0, signal.SIGKILL)
