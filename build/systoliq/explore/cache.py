"""The store of finished work: one small file for each point and stage, named by the content of all that went into it.

A file is written whole or not at all, so that a crash loses the points in flight and no others. What another version
of systoliq wrote has other names and is never read; a file that does not read is computed again.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from systoliq.sim.cache import cache_directory

from .finding import Finding

__all__ = ["FORMAT", "Store", "StoreError"]

FORMAT = 1  # of the records; another one is another folder


class StoreError(OSError):
    """The store cannot be written to; its contents stay."""


class Store:
    """Findings by key, in `directory` (default: `explore` in systoliq's cache)."""

    def __init__(self, directory: Path | None = None) -> None:
        root = cache_directory() / "explore" if directory is None else directory
        self.directory = root / f"format-{FORMAT}"
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(error.errno, f"the cache cannot be used ({error.strerror})", str(root)) from error

    def get(self, key: str) -> Finding | None:
        """The finding stored under `key`; None if there is none, or it cannot be read."""
        try:
            record = json.loads(self._path(key).read_text())
            return Finding(
                status=str(record["status"]), values=dict(record["values"]), reason=str(record["reason"]),
                seconds=float(record["seconds"]),
            )  # fmt: skip
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, finding: Finding, about: dict[str, Any]) -> None:
        """Store a finding, with a readable description of its subject; failures are not stored."""
        if finding.status == "failed":
            return
        record = {**vars(finding), "about": about}
        path = self._path(key)
        temporary = ""
        try:
            path.parent.mkdir(exist_ok=True)
            handle, temporary = tempfile.mkstemp(prefix=".writing-", dir=path.parent)
            with os.fdopen(handle, "w") as file:
                json.dump(record, file)
            Path(temporary).replace(path)
        except OSError as error:
            if temporary:
                Path(temporary).unlink(missing_ok=True)
            raise StoreError(
                error.errno,
                f"a finished point cannot be kept ({error.strerror}); those kept before are safe: make room and run "
                "the same command again",
                str(self.directory),
            ) from error

    def _path(self, key: str) -> Path:
        return self.directory / key[:2] / f"{key}.json"
