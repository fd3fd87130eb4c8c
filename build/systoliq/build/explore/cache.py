"""The store of finished work: one small file for each point and stage, named by the content of all that went into it.

A file is written whole or not at all, so that a crash loses the points in flight and no others. What another version
of systoliq wrote has other names and is never read; a file that does not read is computed again.
"""

from __future__ import annotations

import json
import os
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

from systoliq.sim.cache import cache_directory, content_key

from .code_key import code_key
from .evaluate import Finding, Settings
from .space import Point
from .subject import Subject

__all__ = ["FORMAT", "Store", "StoreError", "stage_key", "subject_key"]

FORMAT = 1  # of the records; another one is another folder


class StoreError(OSError):
    """The store cannot be written to; what is in it stays."""


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
        """The finding kept under `key`; None where there is none, or none that reads."""
        try:
            record = json.loads(self._path(key).read_text())
            return Finding(
                status=str(record["status"]), values=dict(record["values"]), reason=str(record["reason"]),
                seconds=float(record["seconds"]),
            )  # fmt: skip
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, finding: Finding, about: dict[str, Any]) -> None:
        """Keep a finding, and beside it, for readers, what it is about; failures are not kept."""
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


_EVALUATION = "systoliq.build.explore.evaluate"
_MEASURED = "systoliq.build.explore.measured"
_CODE = {
    "model": (_EVALUATION,),
    "synthesis": (_EVALUATION, _MEASURED),
    "place": (_EVALUATION, _MEASURED),
    "cosimulation": (_EVALUATION,),
}
"""Modules that find a stage's results."""


def subject_key(subject: Subject) -> str:
    """Content of a subject: its layer and data."""
    layer = subject.layer
    parts: list[str | bytes] = [layer.a_format.name, layer.b_format.name, layer.y_format.name, layer.name]
    arrays = {**layer.arrays(), "inputs": subject.inputs, "labels": subject.labels, "reference": subject.reference}
    if subject.trained is not None:
        arrays |= {"weights": subject.trained.weights, "float_bias": subject.trained.bias}
        parts.append(repr(subject.trained.a_range))
    for name, array in arrays.items():
        if array is not None:
            parts += [name, array.dtype.str, str(array.shape), array.tobytes()]
    return content_key(*parts)


def stage_key(stage: str, subject: str, point: Point, settings: Settings) -> str:
    """Content of all that the finding of a stage depends on; `subject` is a `subject_key`."""
    depends = point.as_dict()
    if stage in ("model", "cosimulation"):  # the device does not matter here beyond its cells
        depends |= {"cells": point.hardware_cells, "target": "", "batch": settings.batch}
    if stage == "cosimulation":
        depends["simulator"] = settings.simulator
    if stage in ("synthesis", "place"):
        depends["tools"] = settings.synthesizer.identity()
    if stage == "place":
        depends["seeds"] = settings.seeds
    return content_key(
        stage, version("systoliq"), code_key(*_CODE[stage]), subject, json.dumps(depends, sort_keys=True)
    )
