"""The command `systoliq board load`."""

from __future__ import annotations

from pathlib import Path

import click

from ..board.load import load_bitstream, loadable
from ..progress import Stages
from .options import PATH
from .rows import show_rows
from .shell import debug_option
from .shown import shown

__all__ = ["board_load"]


@click.command(
    name="load",
    help="""Load the bitstream in DIR, which systoliq bitstream or build wrote, onto the connected board.

Runs openFPGALoader, or dfu-util for the OrangeCrab; needs a loader, see below. Most boards forget the bitstream when
they are switched off.

\b
Examples
  systoliq board load out/digits
  pip install 'systoliq[board]'; apt-get install libftdi1-2     # openFPGALoader and its library
""",
)
@click.argument("directory", metavar="DIR", type=PATH)
@debug_option
def board_load(directory: Path) -> None:
    """See `help`."""
    file, board = loadable(directory)
    with Stages().stage(f"load {file.name}"):
        load_bitstream(file, board)
    rows = [("loaded", f"{file} onto {board.title}"), ("serial line", board.uart)]
    show_rows((label, shown(text)) for label, text in [*rows, ("next", "systoliq board run --port PORT --input X.npz")])
