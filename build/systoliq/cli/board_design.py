"""Designs for boards, from the options that `bitstream`, `board run` and `board simulate` share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ..board.boards import open_board
from ..board.record import Record
from ..design import Design, open_source
from .options import CELLS_OPTION, HARDWARE_OPTIONS, NETWORK_OPTIONS, SOURCE_OPTIONS, hardware_of

__all__ = ["BOARD_DESIGN_OPTIONS", "BOARD_OPTION", "DEFAULT_BAUD", "board_design", "board_record", "recorded_design"]

BOARD_DESIGN_OPTIONS = (*HARDWARE_OPTIONS, CELLS_OPTION, *NETWORK_OPTIONS, *SOURCE_OPTIONS)
BOARD_OPTION = click.option(
    "--board", metavar="NAME", help="Board whose cells and capacity the design uses (see bitstream).  [none]"
)
DEFAULT_BAUD = 115200
_PATHS = ("weights", "plan")


def board_design(source: str, board: str | None, options: Mapping[str, Any]) -> Design:
    """Return the design that `source` is with these `options`, among them the `baud` of its line, for a board.

    Options that are left out are as if they were not given. Raises InputError for a design without units of operands.
    """
    target = None if board is None else open_board(board).target
    given = dict(options)
    weights, no_bias, name = given.pop("weights", None), given.pop("no_bias", False), given.pop("name", None)
    baud = given.pop("baud", DEFAULT_BAUD)
    hardware = hardware_of(given, target) | ({} if target is None else {"line_baud": max(baud, 1)})
    design = open_source(source, hardware, weights=weights, use_bias=not no_bias, name=name)
    _ = design.unit_beats  # of an array or an engine there are none: refused before anything is made
    return design


def board_record(source: str, board: str | None, options: Mapping[str, Any]) -> Record:
    """The record to make the same design again from any directory: files by their full paths."""
    path, mark, node = source.partition("#")
    if Path(path).is_file():
        source = f"{Path(path).absolute()}{mark}{node}"
    absolute = {name: str(Path(value).absolute()) for name, value in options.items() if isinstance(value, Path)}
    return Record(source=source, options={"board": board, **options, **absolute})


def recorded_design(record: Record) -> Design:
    """The design of a record."""
    options: dict[str, Any] = {
        name: Path(value) if name in _PATHS and value is not None else value for name, value in record.options.items()
    }
    return board_design(record.source, options.pop("board"), options)
