"""Log of an exploration: progress point by point with an estimate of the remaining time, next to the results."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import IO

from ..errors import InputError
from .progress import NoProgress, Progress

__all__ = ["LOG", "Log", "is_log"]

LOG = "explore.log"
_FIRST = "systoliq explore"


class Log(Progress):
    """Passes progress on to `shown`, and appends it to the file `LOG` in `directory`.

    Without a directory nothing is written. The directory is made with the first line. As a context manager, it closes
    the file at the end. After an InputError, it deletes the files of this run: a refused exploration leaves no files.
    """

    def __init__(self, directory: Path | None, shown: Progress | None = None) -> None:
        self._shown = shown or NoProgress()
        self._directory = directory
        self._file: IO[str] | None = None
        self._made: list[Path] = []  # that were not there before, the innermost first
        self._counts: dict[str, list[int]] = {}
        self._began = self._stage_began = time.monotonic()

    def start(self, stage: str, total: int, cached: int) -> None:
        counts = self._counts[stage] = [0, total, cached]
        self._stage_began = time.monotonic()
        self._write(f"{stage}: {counts[1]} points, {cached} of them from the cache")
        self._shown.start(stage, total, cached)

    def advance(self, stage: str, points: int) -> None:
        counts = self._counts[stage]
        counts[0] += points
        done, total, cached = counts
        left = max(total - cached - done, 0)
        rest = (time.monotonic() - self._stage_began) / done * left
        self._write(f"{stage}: {done + cached} of {total}, about {rest:.0f} s to go at the most")
        self._shown.advance(stage, points)

    def end(self, stage: str) -> None:
        self._write(f"{stage}: over, {time.monotonic() - self._stage_began:.1f} s")
        self._shown.end(stage)

    def note(self, text: str) -> None:
        self._write(text)
        self._shown.note(text)

    def _write(self, text: str) -> None:
        """Write a line, with the seconds since the beginning."""
        if self._file is None and self._directory is not None:
            path = (self._directory / LOG).absolute()
            self._made = [each for each in (path, *path.parents) if not each.exists()]
            self._directory.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a", encoding="utf-8", buffering=1)
            self._file.write(f"{_FIRST}, {time.strftime('%Y-%m-%d %H:%M:%S')}\n")
        if self._file is not None:
            self._file.write(f"{time.monotonic() - self._began:9.1f} s  {text}\n")

    def __enter__(self) -> Log:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close()
        if kind is not None and issubclass(kind, InputError):
            with contextlib.suppress(OSError):  # others may have written there
                for path in self._made:
                    path.unlink() if path.name == LOG else path.rmdir()

    def close(self) -> None:
        """The file is complete."""
        if self._file is not None:
            self._file.close()
            self._file = None


def is_log(path: Path) -> bool:
    """True if a file is the log of an exploration."""
    try:
        with path.open(encoding="utf-8") as file:
            return path.name == LOG and file.readline().startswith(_FIRST)
    except (OSError, ValueError):
        return False
