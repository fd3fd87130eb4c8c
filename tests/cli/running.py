"""Commands that run beside the test."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

MAIN = [sys.executable, "-c", "from systoliq.cli.main import main; main()"]
MARK = "SYSTOLIQ_TEST_MARK"


def start(*arguments: object, folder: Path, limit: Callable[[], None] | None = None, **options) -> subprocess.Popen:
    """A command in `folder`, under a `limit`, that hears all signals, as tests under nohup do not."""

    def prepare() -> None:
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        if limit is not None:
            limit()

    environment = {**os.environ, "SYSTOLIQ_CACHE": str(folder / "cache"), "TMPDIR": str(folder / "tmp"),
                   MARK: str(folder), **options.pop("env", {})}  # fmt: skip
    (folder / "tmp").mkdir(exist_ok=True)
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
    command = [*MAIN, *map(str, arguments)]
    return subprocess.Popen(command, cwd=folder, env=environment, preexec_fn=prepare, **options)


def marked(folder: Path) -> list[str]:
    """Command lines of processes that a command in `folder` started and that are still there."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"{MARK}={folder}".encode() in (path / "environ").read_bytes().split(b"\0"):
                found.append((path / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    return found
