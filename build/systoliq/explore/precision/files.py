"""Files of a precision study: its rows as JSON and CSV, and the networks of the front, which `systoliq emit` takes."""

from __future__ import annotations

from typing import Any

from systoliq.golden.archive import npz_bytes
from systoliq.golden.network import network_arrays

from ...files import json_bytes
from ...generator import GENERATOR
from ..files import csv_bytes
from .report import study_html
from .study import COLUMNS, Study, plain

__all__ = ["study_files"]


def study_files(study: Study) -> dict[str, bytes]:
    """Return all files by name; precision.json is the first."""
    networks = {f"networks/{name}.npz": row for name, row in _named(study).items()}
    return {
        "precision.json": json_bytes(_content(study, {id(row): name for name, row in networks.items()})),
        "report.html": study_html(study).encode(),
        "precision.csv": csv_bytes(COLUMNS, map(plain, study.rows)),
        **{name: npz_bytes(network_arrays(study.network_of(row))) for name, row in networks.items()},
    }


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
