"""Kept steps: what each step of a build made and found, so that the same command resumes where it stopped."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..files import json_bytes, refuse_file, write_file
from ..generator import GENERATOR

__all__ = ["BUILD_FILE", "KeptSteps"]

BUILD_FILE = "build.json"
_KIND = "build"
_FIELDS = {"key", "figures", "files"}  # of a step


@dataclass(kw_only=True)
class KeptSteps:
    """The steps of the build in `directory`, by name: the key of all that a step depends on, its figures, and the
    digests of its files.
    """

    directory: Path
    source: str
    steps: dict[str, dict[str, Any]]

    @classmethod
    def open(cls, directory: Path, source: str, *, replace: bool = False) -> KeptSteps:
        """Return the steps that are kept in `directory`, which must be new, empty, or hold a build of `source`; with
        `replace`, a build of any source.

        Raises InputError.
        """
        refuse_file(directory)
        empty = cls(directory=directory, source=source, steps={})
        if not directory.is_dir() or not any(directory.iterdir()):
            return empty
        held = _read(directory / BUILD_FILE)
        if held is None:
            raise InputError(f"{directory}: must be new, empty or written by systoliq build; it holds other files")
        if held["source"] != source:
            if not replace:
                raise InputError(
                    f"{directory}: must be new, empty or hold a build of {source!r}, not of {held['source']!r}: give "
                    "another directory, or --replace"
                )
            return empty
        return cls(directory=directory, source=source, steps=held["steps"])

    def find(self, step: str, key: str) -> dict[str, Any] | None:
        """Return the figures of `step` if it was done with the same `key` and its files are unchanged."""
        held = self.steps.get(step)
        if held is None or held["key"] != key:
            return None
        if any(_digest(self.directory / name) != digest for name, digest in held["files"].items()):
            return None
        figures: dict[str, Any] = held["figures"]
        return figures

    def run(
        self, step: str, key: str, files: Iterable[str], make: Callable[[], dict[str, Any]]
    ) -> tuple[dict[str, Any], bool]:
        """Return the figures of `step`, and whether they were kept: otherwise `make` writes the files and returns them.

        `files` are names in the directory, or folders of which every file counts.
        """
        found = self.find(step, key)
        if found is not None:
            return found, True
        self.steps.pop(step, None)
        figures = make()
        names = [name for each in files for name in _names(self.directory, each)]
        digests = {name: _digest(self.directory / name) for name in names}
        self.steps[step] = {"key": key, "figures": figures, "files": digests}
        self.save()
        return figures, False

    def save(self) -> None:
        """Write the file that `open` reads, whole or not at all."""
        self.directory.mkdir(parents=True, exist_ok=True)
        content = {"generator": GENERATOR, "kind": _KIND, "source": self.source, "steps": self.steps}
        write_file(self.directory / BUILD_FILE, json_bytes(content))


def _read(path: Path) -> dict[str, Any] | None:
    """Return the contents of the file `path` of a build; None if it is no such file."""
    try:
        held = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    if not isinstance(held, dict) or held.get("generator") != GENERATOR or held.get("kind") != _KIND:
        return None
    steps = held.get("steps")
    if not isinstance(held.get("source"), str) or not isinstance(steps, dict):
        return None
    return held if all(isinstance(each, dict) and set(each) >= _FIELDS for each in steps.values()) else None


def _digest(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def _names(directory: Path, name: str) -> list[str]:
    path = directory / name
    if not path.is_dir():
        return [name]
    return sorted(os.fspath(each.relative_to(directory)) for each in path.iterdir() if each.is_file())
