"""Stages with their times: a spinner on a terminal, nothing anywhere else."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.text import Text

__all__ = ["Stages"]


class Stages:
    """The current work of a command, reported on standard error."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = Console(stderr=True) if console is None else console

    @contextlib.contextmanager
    def stage(self, text: str) -> Iterator[Callable[[str], None]]:
        """Show `text` while the block runs, and its time afterwards; the block may call the yielded function with
        details.
        """
        if not self._console.is_terminal:
            yield lambda detail: None
            return
        started = time.monotonic()
        with self._console.status(Text(text)) as status:
            yield lambda detail: status.update(Text(f"{text}: {detail}"))
        line = Text("done ", style="green").append(f"{text} ", style="default")
        self._console.print(line.append(f"{time.monotonic() - started:.1f} s", style="dim"))
