"""Child processes: the programs that this process runs, each in its own process group with all that it starts.

A group ends where its call is left by an exception, or, from a signal's handler, by `end_children`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["EndedError", "child", "end_children", "run_child", "starting"]


class EndedError(BaseException):
    """A child was asked for, or was being started, when `end_children` ended all of them."""


_SECONDS_TO_END = 0.5
_groups: set[int] = set()
_ended = threading.Event()
_starting: set[int] = set()  # threads between a fork and its group in `_groups`


@contextlib.contextmanager
def child(command: Sequence[str | Path], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A running program, with the options of `subprocess.Popen`; it is waited for, or ended where an exception comes.

    Raises
    ------
    EndedError
        after `end_children`.
    """
    me = threading.get_ident()
    _starting.add(me)
    try:
        if _ended.is_set():
            raise EndedError
        process = subprocess.Popen([str(word) for word in command], text=True, start_new_session=True, **options)
        _groups.add(process.pid)
    finally:
        _starting.discard(me)
    try:
        if _ended.is_set():
            raise EndedError
        with process:
            try:
                yield process
            except BaseException:
                _end(process.pid)
                raise
    except EndedError:
        _end(process.pid)
        process.wait()
        raise
    finally:
        _groups.discard(process.pid)


def run_child(
    command: Sequence[str | Path],
    *,
    text: str | None = None,
    timeout: float | None = None,
    stderr: int = subprocess.PIPE,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, `text` on its standard input; its outputs are kept.

    Raises
    ------
    subprocess.TimeoutExpired
        after `timeout` seconds; the program and its children have ended by then.
    """
    stdin = subprocess.DEVNULL if text is None else subprocess.PIPE
    options = {"stdin": stdin, "stdout": subprocess.PIPE, "stderr": stderr, "cwd": cwd, "env": env, "errors": "replace"}
    with child(command, **options) as process:
        out, err = process.communicate(text, timeout)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def end_children() -> None:
    """End all children and their children, and prevent new ones: for a handler of a signal that ends the process."""
    _ended.set()
    for group in list(_groups):
        _end(group)


def starting() -> bool:
    """True while this thread is about to start a child, and will raise `EndedError` by itself after `end_children`."""
    return threading.get_ident() in _starting


def _end(group: int) -> None:
    """End a group: by a signal that lets compilers take their temporary files away, then by one that ends it."""
    with contextlib.suppress(ProcessLookupError, PermissionError, ChildProcessError):
        os.killpg(group, signal.SIGTERM)
        deadline = time.monotonic() + _SECONDS_TO_END
        while not os.waitid(os.P_PID, group, os.WEXITED | os.WNOHANG | os.WNOWAIT) and time.monotonic() < deadline:
            time.sleep(0.005)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
