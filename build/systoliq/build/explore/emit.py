"""Commands that emit the points of a table, and the layer files that they need."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..files import npz_bytes
from .exploration import Exploration

__all__ = ["emit_arguments", "emit_command", "layer_files"]


def emit_command(exploration: Exploration, row: Mapping[str, Any], out: Path) -> str:
    """The exact `systoliq emit` of a row's design, from the folder in which `explore` wrote to `out`."""
    return shlex.join(["systoliq", "emit", *emit_arguments(exploration, row, out)])


def emit_arguments(exploration: Exploration, row: Mapping[str, Any], out: Path) -> list[str]:
    """Arguments of that command."""
    subject = exploration.subject
    own = subject.own_widths(row["a_bits"], row["b_bits"])
    source = subject.source if own else str(out / _layer_file(exploration, row))
    arguments = [source, "--out", str(out / "points" / _name(row))]
    if own and subject.weights is not None:
        arguments += ["--weights", str(subject.weights)]
    for option in ("rows", "cols", "depth", "a_bits", "b_bits"):
        arguments += [f"--{option.replace('_', '-')}", str(row[option])]
    arguments += ["--accumulator-bits", "auto", "--requantizer", row["requantizer"]]
    if row["requantizer_bits"]:
        arguments += ["--multiplier-bits", str(row["requantizer_bits"])]
    if row["cells"] != "portable":
        arguments += ["--cells", row["cells"]]
    return arguments


def layer_files(exploration: Exploration, rows: Iterable[Mapping[str, Any]]) -> dict[str, bytes]:
    """Layer files of the widths of `rows` that are not the source's own, by their names within the output."""
    files = {}
    for row in rows:
        if not exploration.subject.own_widths(row["a_bits"], row["b_bits"]):
            files[_layer_file(exploration, row)] = npz_bytes(exploration.layer_of(row).arrays())
    return files


def _layer_file(exploration: Exploration, row: Mapping[str, Any]) -> str:
    return f"layers/{exploration.layer_of(row).name}.npz"


def _name(row: Mapping[str, Any]) -> str:
    size = f"{row['rows']}x{row['cols']}x{row['depth']}"
    return f"{size}_a{row['a_bits']}b{row['b_bits']}_{row['requantizer']}{row['requantizer_bits'] or ''}"
