"""The command `systoliq board`: its group of commands, each in a file of its own beside this one."""

from __future__ import annotations

import click

from .board_list import board_list
from .board_run import board_run
from .board_simulate import board_simulate

__all__ = ["board"]


@click.command(
    cls=click.Group,
    help="""Boards: list those there are, send rows to one, or stand in for one in simulation.

\b
systoliq board list                                        boards that bitstreams are made for
systoliq board run --port /dev/ttyUSB0 --input x.npz       send rows, compare what comes back with golden
systoliq board simulate digits                             the RTL of link and design behind a pseudo-terminal
""",
)
def board() -> None:
    """Group of the commands."""


for _command in (board_list, board_run, board_simulate):
    board.add_command(_command)
