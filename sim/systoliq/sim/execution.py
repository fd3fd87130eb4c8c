"""Execution of a simulation with its output in a log, line by line, and a time limit."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from systoliq.subprocesses import child

from .process import SimulationError, tail

__all__ = ["end_of", "execute"]


def execute(
    command: Sequence[str],
    variables: Mapping[str, str],
    directory: Path,
    log: Path,
    timeout: float | None,
    on_line: Callable[[str], None] | None = None,
    pass_fds: Sequence[int] = (),
) -> int:
    """Run a simulation to its end, its output going to the log; give its exit status. `pass_fds`: as of `Popen`."""
    with (
        log.open("w", encoding="utf-8") as file,
        child(  # what build() made
            command,
            cwd=directory,
            env=dict(variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            pass_fds=tuple(pass_fds),
        ) as process,
    ):
        assert process.stdout is not None  # noqa: S101 - stdout=PIPE
        try:
            with _ended_after(process, timeout) as late:
                for line in process.stdout:
                    file.write(line)
                    if on_line is not None:
                        on_line(line.rstrip("\n"))
                status = process.wait()
        except BaseException:  # an interrupt, or on_line's own: no simulation is left running
            process.kill()
            raise
    if late.is_set():
        raise SimulationError(f"the simulation took more than {timeout:g} s; its log, {log}, ends:\n{end_of(log)}")
    return status


@contextlib.contextmanager
def _ended_after(process: subprocess.Popen[str], timeout: float | None) -> Iterator[threading.Event]:
    late = threading.Event()
    if timeout is None:
        yield late
        return

    def end() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(timeout, end)
    timer.start()
    try:
        yield late
    finally:
        timer.cancel()


def end_of(log: Path) -> str:
    """The last lines of a log."""
    return tail(log.read_text(encoding="utf-8", errors="replace"))
