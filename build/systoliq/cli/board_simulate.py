"""The command `systoliq board simulate`."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from ..board.linked import fingerprint
from ..board.record import keep_record
from ..board.simulated import simulated_board
from ..errors import InputError
from ..progress import Stages
from .board_design import BOARD_DESIGN_OPTIONS, BOARD_OPTION, board_design, board_record
from .options import PATH, SOURCE_HELP, add_options
from .shell import debug_option

__all__ = ["board_simulate"]


@click.command(
    name="simulate",
    help=f"""Simulate a board with SOURCE on it: the RTL of link and design in Verilator, behind a pseudo-terminal.

Prints the terminal's path, for `systoliq board run --port`, and runs until interrupted, or for --seconds.

{SOURCE_HELP}

\b
Examples
  systoliq board simulate digits --link out/board
  systoliq board run --port out/board --input x.npz
""",
)
@click.argument("source")
@click.option("--link", type=PATH, metavar="FILE", help="Link FILE to the terminal while the simulation runs.")
@click.option("--seconds", type=click.FloatRange(min=0), metavar="S", help="Stop after S seconds.")
@add_options(BOARD_OPTION, *BOARD_DESIGN_OPTIONS, debug_option)
def board_simulate(
    source: str, link: Path | None, seconds: float | None, board: str | None, **options: Any
) -> None:  # fmt: skip
    """See `help`."""
    if link is not None and (link.exists() or link.is_symlink()):
        raise InputError(f"link must be a new file; {link} exists")
    if link is not None and not link.absolute().parent.is_dir():
        raise InputError(f"link: the directory {link.absolute().parent} must exist")
    stages = Stages()
    with stages.stage(f"design {source}"):
        design = board_design(source, board, options)
        keep_record(fingerprint(design), board_record(source, board, options))
    with contextlib.ExitStack() as stack:
        with stages.stage("build") as detail:
            port = stack.enter_context(simulated_board(design, progress=detail))
        stack.enter_context(_linked(link, port))
        click.echo(link or port)
        threading.Event().wait(seconds)


@contextlib.contextmanager
def _linked(link: Path | None, port: str) -> Iterator[None]:
    """`link` leads to `port`, as long as the block lasts."""
    if link is None:
        yield
        return
    link.symlink_to(port)
    try:
        yield
    finally:
        link.unlink(missing_ok=True)
