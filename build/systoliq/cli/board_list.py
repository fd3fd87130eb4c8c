"""The command `systoliq board list`."""

from __future__ import annotations

import sys

import click
from rich.console import Console
from rich.table import Table

from ..board.boards import BOARDS
from .shell import debug_option

__all__ = ["board_list"]

_WIDTH = 160  # of the table in a file or a pipe


@click.command(name="list")
@debug_option
def board_list() -> None:
    """List the supported boards: part, oscillator, cells and the pins of the serial line."""
    table = Table("board", "part", "oscillator", "cells", "serial line", box=None, pad_edge=False)
    for board in BOARDS.values():
        table.add_row(board.name, board.title, f"{board.hz / 1e6:g} MHz", board.target.cells, board.uart)
    Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH).print(table)
