"""The output directory of an exploration: which directory may be written, and how."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..files import refuse_file, write_file
from ..generator import GENERATOR
from .log import is_log

__all__ = ["check_directory", "csv_bytes", "write_all"]

_MARKS = {
    "points.json": "points",
    "precision.json": "rows",
    "answer.json": "candidates",
}  # files of an earlier exploration, with text that they contain


def check_directory(directory: Path) -> None:
    """An InputError where `directory` cannot be written to: it may be new, empty, or one of an earlier exploration."""
    refuse_file(directory)
    if directory.is_dir() and not all(map(is_log, directory.iterdir())) and not _ours(directory):
        raise InputError(f"{directory}: must be new, empty or written by systoliq explore; it holds other files")


def _ours(directory: Path) -> bool:
    for name, key in _MARKS.items():
        try:
            found = json.loads((directory / name).read_text())
        except (OSError, ValueError):
            continue
        if isinstance(found, dict) and found.get("generator") == GENERATOR and key in found:
            return True
    return False


def write_all(files: Mapping[str, bytes], directory: Path) -> list[Path]:
    """Write `files` into `directory`, in their order, each whole or not at all; return their paths.

    The first one should mark the directory as one of an exploration.
    """
    written = []
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, content)
        written.append(path)
    return written


def csv_bytes(columns: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Return `rows` as CSV with these columns; other fields are left out."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns), extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()
