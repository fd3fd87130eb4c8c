"""The command `systoliq bitstream`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from ..board.boards import board_lines, open_board
from ..board.flow import make_bitstream
from ..board.linked import fingerprint
from ..board.record import keep_record
from ..package.output import check_output, write_output
from ..progress import Stages
from .board_design import BOARD_DESIGN_OPTIONS, DEFAULT_BAUD, board_design, board_record
from .expected_time import tell_expected_time
from .options import PATH, SOURCE_HELP, add_options
from .plan_table import show_plan
from .rows import show_rows
from .shell import debug_option, warn_symlink

__all__ = ["bitstream"]

_PLACEMENTS = 2  # mostly: placed twice, first to find the frequency, then for that clock
_BOARDS = board_lines()


@click.command(
    help=f"""Build the bitstream of SOURCE, a layer or a network, behind a serial link on a board.

\b
Boards
{_BOARDS}

Without size options, a layer has as many columns as fit, at most 16, and a network is the smallest that keeps up with
the serial line. The board's PLL is set to the frequency that place and route reached. DIR receives the bitstream and
report.json.

`systoliq board run` sends rows to the board and compares the results. Needs: pip install 'systoliq[board]'.

{SOURCE_HELP}

\b
Examples
  systoliq bitstream digits --board ulx3s-85f --out out/ulx3s
  systoliq bitstream digits-cnn --board icebreaker --out out/icebreaker
  systoliq bitstream digits-cnn --board ulx3s-85f --out out/quick --multipliers 64
  systoliq bitstream layer.npz --board tang-nano-9k --out out/tang --cols 2 --baud 921600
"""
)
@click.argument("source")
@click.option("--board", "name_of_board", required=True, metavar="NAME", help="The board; see above.")
@click.option("--out", required=True, type=PATH, metavar="DIR", help="Directory for bitstream and report.")
@click.option("--mhz", type=float, metavar="F", help="Clock of the design.  [the frequency that is reached]")
@click.option(
    "--baud", type=int, default=DEFAULT_BAUD, show_default=True, metavar="N", help="Bits per second of the line."
)
@click.option(
    "--seed", type=click.IntRange(min=1), default=1, show_default=True, metavar="N", help="Seed of the placer."
)
@add_options(*BOARD_DESIGN_OPTIONS, debug_option)
def bitstream(
    source: str, name_of_board: str, out: Path, mhz: float | None, baud: int, seed: int, **options: Any
) -> None:  # fmt: skip
    """See `help`."""
    board = open_board(name_of_board)
    check_output(out)
    options["baud"] = baud
    stages = Stages()
    with stages.stage(f"design {source}"):
        design = board_design(source, board.name, options)
    show_plan(design, board.target)
    tell_expected_time(design, board.target, _PLACEMENTS)
    with stages.stage(f"bitstream of {design.name} for {board.title}") as detail:
        made = make_bitstream(design, board, mhz=mhz, baud=baud, seed=seed, progress=detail)
    write_output(out, made.files)
    warn_symlink(out)
    keep_record(fingerprint(design), board_record(source, board.name, options))
    load = f"systoliq board load {shlex.quote(str(out))}"
    show_rows([*made.report.rows(), ("serial line", board.uart), ("load it by", load)])
