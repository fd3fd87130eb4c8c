"""Boards that bitstreams are made for, by name."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import InputError, meant
from . import ecp5, gatemate, gowin, ice40, nexus
from .description import Board

__all__ = ["BOARDS", "board_lines", "open_board"]

BOARDS: Mapping[str, Board] = {
    board.name: board for board in (*ice40.BOARDS, *ecp5.BOARDS, *gowin.BOARDS, *nexus.BOARDS, *gatemate.BOARDS)
}


def open_board(name: str) -> Board:
    """The board called `name`."""
    if name not in BOARDS:
        raise InputError(f"board must be one of {', '.join(BOARDS)}, not {name!r}{meant(name, BOARDS)}")
    return BOARDS[name]


def board_lines() -> str:
    """Return a line for each board, with its name and title, for help texts."""
    width = max(map(len, BOARDS)) + 2
    return "\n".join(f"  {board.name:<{width}}{board.title}" for board in BOARDS.values())
