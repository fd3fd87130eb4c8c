"""Files of an exploration: points.json and points.csv, report.html, front.png, and files for points of the front."""

from __future__ import annotations

import json
from pathlib import Path

from ...generator import GENERATOR
from ..files import csv_bytes
from .emit import emit_command
from .exploration import Exploration
from .table import columns_of

__all__ = ["exploration_files"]


def exploration_files(exploration: Exploration, directory: Path) -> dict[str, bytes]:
    """Return all files by name; points.json is the first. Commands in them are for `directory`."""
    from .picture import front_png  # needs matplotlib, as the report needs plotly
    from .report import report_html

    chosen = exploration.chosen
    commands = [emit_command(exploration, row, directory) for row in exploration.front_rows]
    return {
        "points.json": _json(exploration, commands),
        "points.csv": _csv(exploration),
        **exploration.subject.files([*exploration.front_rows, *([chosen] if chosen else [])]),
        "report.html": report_html(exploration, commands, chosen).encode(),
        "front.png": front_png(exploration),
    }


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
    rows = []
    for row in exploration.rows:
        seeds = row["fmax_mhz_per_seed"]
        rows.append(row | {"fmax_mhz_per_seed": None if seeds is None else " ".join(map(str, seeds))})
    return csv_bytes(columns_of(exploration.subject), rows)
