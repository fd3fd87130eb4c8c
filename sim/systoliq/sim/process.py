"""Calls of a build tool: warnings are kept, and a failure raises `SimulationError` with the last lines."""

from __future__ import annotations

import math
import os
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from systoliq.failed import FailedError
from systoliq.subprocesses import run_child

__all__ = ["Reporter", "SimulationError", "call", "limited", "tail"]


class SimulationError(FailedError):
    """A simulation could not be built, or ended without results."""


class Reporter:
    """Collects the output of the tools, and reports to the caller which stage runs; used from several threads."""

    def __init__(self, progress: Callable[[str], None] | None = None) -> None:
        self._progress = progress
        self._lock = threading.Lock()
        self._messages: list[str] = []

    def stage(self, text: str) -> None:
        """Report the current stage to the caller."""
        if self._progress is not None:
            with self._lock:
                self._progress(text)

    def message(self, text: str) -> None:
        """Keep a tool's output: a successful build tool that speaks is warning of something."""
        if text.strip():
            with self._lock:
                self._messages.append(text.strip())

    @property
    def messages(self) -> tuple[str, ...]:
        """The output of the tools so far."""
        with self._lock:
            return tuple(self._messages)


def call(
    command: Sequence[str | Path | None],
    *,
    report: Reporter,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> None:
    """Run a build tool, or a simulation, to its end, in `folder`; its output goes to the reporter."""
    words = [str(word) for word in command]
    done = run_child(words, stderr=subprocess.STDOUT, env={**os.environ, **(environment or {})}, cwd=folder)
    if done.returncode != 0:
        raise SimulationError(f"{Path(words[0]).name} failed with exit status {done.returncode}:\n{tail(done.stdout)}")
    report.message(done.stdout)


def limited(command: Sequence[str], seconds: float) -> list[str]:
    """The command with a limit of `seconds` of processor time, after which a signal ends it."""
    return ["sh", "-c", f'ulimit -t {math.ceil(seconds)}; exec "$@"', "sh", *command]


def tail(text: str, lines: int = 30) -> str:
    """Return the last lines of a log."""
    return "\n".join(text.rstrip().splitlines()[-lines:]) or "(it printed nothing)"
