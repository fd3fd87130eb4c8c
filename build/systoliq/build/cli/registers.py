"""The command `systoliq registers`."""

from __future__ import annotations

from pathlib import Path

import click

from ..design.engine.register_map import c_header, markdown
from ..files import write_file
from .options import PATH
from .shell import debug_option

__all__ = ["registers"]


@click.command(
    help="""Write the engine's register map into DIR: registers.md and, for C and C++, systoliq_engine.h.

\b
Example
  systoliq registers out/registers
"""
)
@click.argument("directory", metavar="DIR", type=PATH)
@debug_option
def registers(directory: Path) -> None:
    """See `help`."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in (("registers.md", markdown()), ("systoliq_engine.h", c_header())):
        write_file(directory / name, text.encode())
        click.echo(f"wrote {directory / name}")
