"""The command `systoliq board`: its group of commands, each in a separate file of this folder."""

from __future__ import annotations

import click

from .board_fit import board_fit
from .board_list import board_list
from .board_load import board_load
from .board_project import board_project
from .board_run import board_run
from .board_simulate import board_simulate
from .shell import Group

__all__ = ["board"]


@click.command(
    cls=Group,
    help="""List the boards, show which ones a network fits, load a bitstream, send rows to a board and compare the
results, simulate one, or write a project for vendors' tools.

\b
Examples
  systoliq board list
  systoliq board fit model.onnx
  systoliq board load out/digits
  systoliq board run --port /dev/ttyUSB0 --input x.npz
  systoliq board simulate digits
  systoliq board project digits --board arty-a7-35t --out out/arty
""",
)
def board() -> None:
    """Group of the commands."""


for _command in (board_list, board_fit, board_load, board_project, board_run, board_simulate):
    board.add_command(_command)
