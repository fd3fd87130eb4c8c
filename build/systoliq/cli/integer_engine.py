"""Options that describe an engine of integers: a file, or one by one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from systoliq.hw.cells import CELLS
from systoliq.hw.engine import EngineConfig

from ..design.engine.configuration import engine_config
from ..design.engine.options import EngineOptions
from ..errors import InputError
from ..inference.engine_file import read_engine
from .options import BUS_OPTION, ENGINE_OPTIONS, PATH, hardware_of

__all__ = ["INTEGER_ENGINE_OPTIONS", "integer_engine"]

INTEGER_ENGINE_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--engine",
        type=PATH,
        metavar="CONFIG",
        help="The engine, instead of the options below: the directory of emit engine, its sidecar, or JSON with the "
        "fields of EngineConfig and bus_bits.",
    ),
    click.option("--rows", type=int, metavar="N", help="Rows of the array.  [4]"),
    click.option("--cols", type=int, metavar="N", help="Columns of the array.  [4]"),
    click.option("--depth", type=int, metavar="N", help="Pairs that an element multiplies per cycle.  [1]"),
    click.option("--cells", type=click.Choice(list(CELLS)), help="Cells that multiply and accumulate.  [portable]"),
    *ENGINE_OPTIONS[1:],  # without the formats of float8
    BUS_OPTION,
)


def integer_engine(file: Path | None, options: dict[str, Any]) -> tuple[EngineConfig, int | None]:
    """The engine and the bits of its bus, None where it has streams, from the values of `INTEGER_ENGINE_OPTIONS`."""
    if file is None:
        bus = options["bus"]
        return engine_config(EngineOptions.of(hardware_of(options), "'engine'")), bus
    if given := [name for name, value in options.items() if value is not None]:
        raise InputError(f"{given[0]} conflicts with --engine, which already sets it")
    return read_engine(file)
