"""Files of a precision study: its rows as JSON and CSV, and the networks of the front, which `systoliq emit` takes."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from systoliq.golden.archive import npz_bytes
from systoliq.golden.network import network_arrays

from ...files import json_bytes, write_file
from ...generator import GENERATOR
from .report import study_html
from .study import COLUMNS, Study, plain

__all__ = ["write_study"]


def write_study(study: Study, directory: Path) -> list[Path]:
    """Write all files into `directory`, each whole or not at all; precision.json first, which marks the directory."""
    networks = {f"networks/{name}.npz": row for name, row in _named(study).items()}
    files = {
        "precision.json": json_bytes(_content(study, {id(row): name for name, row in networks.items()})),
        "report.html": study_html(study).encode(),
        "precision.csv": _csv(study.rows),
        **{name: npz_bytes(network_arrays(study.network_of(row))) for name, row in networks.items()},
    }
    written = []
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, content)
        written.append(path)
    return written


def _named(study: Study) -> dict[str, dict[str, Any]]:
    """Rows that are worth a network of their own, by its name: one width for all, the front and the chosen one."""
    named = {f"bits_{row['bits']}": row for row in study.rows if row["scope"] == "all"}
    front = [row for row in study.rows if row["front"] and row["scope"] == "mixed"]
    named |= {f"mixed_{index}": row for index, row in enumerate(sorted(front, key=lambda row: -row["accuracy"]))}
    if study.chosen is not None:
        named["chosen"] = study.chosen
    return named


def _content(study: Study, names: dict[int, str]) -> dict[str, Any]:
    return {
        "generator": GENERATOR,
        "network": study.network.name,
        "origin": study.origin,
        "data": study.data.origin,
        "target": study.costs.target,
        "image_cycles": study.costs.image_cycles,
        "searched": None if study.searched is None else vars(study.searched),
        "columns": COLUMNS,
        "rows": [{**row, "chosen": row is study.chosen, "file": names.get(id(row))} for row in study.rows],
    }


def _csv(rows: list[dict[str, Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(COLUMNS), lineterminator="\n")
    writer.writeheader()
    writer.writerows(plain(row) for row in rows)
    return text.getvalue().encode()
