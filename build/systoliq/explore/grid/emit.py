"""Commands that emit the points of a table."""

from __future__ import annotations

import shlex
from pathlib import Path

from .exploration import Exploration
from .row import Row

__all__ = ["emit_command"]


def emit_command(exploration: Exploration, row: Row, out: Path) -> str:
    """The exact `systoliq emit` of a row's design, from the folder in which `explore` wrote to `out`."""
    return shlex.join(["systoliq", "emit", *exploration.subject.emit_arguments(row, out)])
