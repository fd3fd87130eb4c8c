"""Rows of a label and a text, as a table."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

__all__ = ["show_rows"]

_WIDTH = 160  # of the table in a file or a pipe


def show_rows(rows: Iterable[tuple[str, str]]) -> None:
    """Print them, the texts side by side."""
    table = Table(show_header=False, box=None, pad_edge=False)
    for label, text in rows:
        table.add_row(label, Text(text, overflow="fold"))
    Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH).print(table)
