"""The command `systoliq board project`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..board.project import PROJECT_BOARDS, TOOLS, make_project
from ..design import open_source
from ..package.output import check_output, write_output
from ..progress import Stages
from .board_design import DEFAULT_BAUD
from .options import CELLS_OPTION, HARDWARE_OPTIONS, NETWORK_OPTIONS, PATH, SOURCE_OPTIONS, add_options, hardware_of
from .plan_table import show_plan
from .rows import show_rows
from .shell import debug_option, warn_symlink

__all__ = ["board_project"]

_BOARDS = "\n".join(f"  {board.name:<14}{board.title}" for board in PROJECT_BOARDS.values())


@click.command(
    name="project",
    help=f"""Write a project that Vivado or openXC7 builds into a bitstream: SOURCE, a layer or a network, behind a
serial link on a board of the 7 series, for which pip installs no place and route.

\b
Boards
{_BOARDS}

DIR receives the Verilog of link and design (link.v), the board's top (top.v), pins and clock (top.xdc), and the script
that builds the bitstream: top.tcl for Vivado, build_top.sh for openXC7. The design runs at the board's clock. Neither
tool was at hand to try the project. Needs: pip install 'systoliq[board]'.

\b
Examples
  systoliq board project digits --board arty-a7-35t --out out/arty
  systoliq board project digits-cnn --board arty-a7-35t --tool openxc7 --out out/arty
""",
)
@click.argument("source")
@click.option(
    "--board", "name_of_board", required=True, type=click.Choice(list(PROJECT_BOARDS)), help="The board; see above."
)
@click.option(
    "--tool", type=click.Choice(list(TOOLS)), default="vivado", show_default=True, help="Tool for the script."
)
@click.option("--out", required=True, type=PATH, metavar="DIR", help="Directory for the project.")
@click.option(
    "--baud", type=int, default=DEFAULT_BAUD, show_default=True, metavar="N", help="Bits per second of the line."
)
@add_options(*HARDWARE_OPTIONS, CELLS_OPTION, *NETWORK_OPTIONS, *SOURCE_OPTIONS, debug_option)
def board_project(
    source: str, name_of_board: str, tool: str, out: Path, baud: int, weights: Path | None, no_bias: bool,
    name: str | None, **hardware: Any,
) -> None:  # fmt: skip
    """See `help`."""
    board = PROJECT_BOARDS[name_of_board]
    check_output(out)
    stages = Stages()
    with stages.stage(f"design {source}"):
        asked = hardware_of(hardware, board.target)
        design = open_source(source, asked, weights=weights, use_bias=not no_bias, name=name)
    show_plan(design, board.target)
    with stages.stage(f"project for {board.title}"):
        files = make_project(design, board, tool, baud=baud)
    write_output(out, files)
    warn_symlink(out)
    command = {"vivado": "vivado -mode batch -source top.tcl", "openxc7": "sh build_top.sh"}[tool]
    rows = [
        ("project", f"{out}, {len(files)} files"),
        ("clock", f"{board.hz / 1e6:g} MHz, the board's"),
        ("serial line", board.uart),
        ("build it by", f"cd {out} && {command}"),
    ]
    show_rows(rows)
