"""Boards that bitstreams are made for, by name."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from ..errors import InputError
from . import ecp5, gatemate, gowin, ice40, nexus
from .description import Board

__all__ = ["BOARDS", "open_board"]

BOARDS: Mapping[str, Board] = {
    board.name: board for board in (*ice40.BOARDS, *ecp5.BOARDS, *gowin.BOARDS, *nexus.BOARDS, *gatemate.BOARDS)
}


def open_board(name: str) -> Board:
    """The board called `name`."""
    if name not in BOARDS:
        close = get_close_matches(name.lower(), BOARDS, n=1)
        meant = f": did you mean {close[0]}?" if close else ""
        raise InputError(f"board must be one of {', '.join(BOARDS)}, not {name!r}{meant}")
    return BOARDS[name]
