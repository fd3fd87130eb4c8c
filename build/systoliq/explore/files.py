"""The output directory: points.csv, points.json, report.html, front.png, and files for the points of the front."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..files import write_file
from ..generator import GENERATOR
from .emit import emit_command
from .exploration import Exploration
from .log import is_log
from .table import columns_of

__all__ = ["check_directory", "write_directory"]

_MARKS = {
    "points.json": "points",
    "precision.json": "rows",
    "answer.json": "candidates",
}  # files of an earlier exploration, with text that they contain


def check_directory(directory: Path) -> None:
    """An InputError where `directory` cannot be written to: it may be new, empty, or one of an earlier exploration."""
    existing = next((path for path in (directory, *directory.absolute().parents) if path.exists()), None)
    if existing is not None and not existing.is_dir():
        raise InputError(f"{directory}: must be a directory, but {existing} is a file")
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


def write_directory(exploration: Exploration, directory: Path, *, chosen: dict[str, Any] | None = None) -> list[Path]:
    """Write all files, each whole or not at all; points.json first, so that the directory is known as ours."""
    from .picture import front_png  # needs matplotlib, as the report needs plotly
    from .report import report_html

    commands = [emit_command(exploration, row, directory) for row in exploration.front_rows]
    files = {
        "points.json": _json(exploration, commands),
        "points.csv": _csv(exploration),
        **exploration.subject.files([*exploration.front_rows, *([chosen] if chosen else [])]),
        "report.html": report_html(exploration, commands, chosen).encode(),
        "front.png": front_png(exploration),
    }
    written = []
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, content)
        written.append(path)
    return written


def _json(exploration: Exploration, commands: list[str]) -> bytes:
    subject, settings, columns = exploration.subject, exploration.settings, columns_of(exploration.subject)
    content = {
        "generator": GENERATOR,
        "source": subject.source,
        "origin": subject.origin,
        **subject.facts,
        "float_accuracy": subject.float_accuracy,
        "batch": settings.batch,
        "seeds": settings.seeds,
        "simulator": settings.simulator,
        "tools": settings.synthesizer.identity(),
        "objectives": exploration.objectives,
        "columns": columns,
        "points": [{name: row[name] for name in columns} for row in exploration.rows],
        "front": [
            {name: row[name] for name in columns} | {"emit": command}
            for row, command in zip(exploration.front_rows, commands, strict=True)
        ],
    }  # fmt: skip
    return (json.dumps(content, indent=1) + "\n").encode()


def _csv(exploration: Exploration) -> bytes:
    text = io.StringIO()
    columns = list(columns_of(exploration.subject))
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in exploration.rows:
        seeds = row["fmax_mhz_per_seed"]
        writer.writerow(row | {"fmax_mhz_per_seed": None if seeds is None else " ".join(map(str, seeds))})
    return text.getvalue().encode()
