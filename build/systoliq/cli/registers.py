"""The command `systoliq registers`."""

from __future__ import annotations

from pathlib import Path

import click

from systoliq.hw.engine.float8_registers import FLOAT8_MAP
from systoliq.hw.engine.registers import RegisterMap

from ..files import refuse_file, write_file
from ..package.dma_engine.dma_register_map import dma_c_header, dma_markdown
from ..package.engine.register_map import c_header, markdown
from .options import PATH
from .shell import debug_option

__all__ = ["registers"]


@click.command(
    help="""Write the register maps into DIR: registers.md and systoliq_engine.h (C and C++) for the engine,
dma_registers.md and systoliq_dma.h for the masters of a DMA engine.

\b
Examples
  systoliq registers out/registers
  systoliq registers out/registers --operands float8
"""
)
@click.argument("directory", metavar="DIR", type=PATH)
@click.option(
    "--operands",
    type=click.Choice(["integers", "float8"]),
    default="integers",
    show_default=True,
    help="Operands of the engine.",
)
@debug_option
def registers(directory: Path, operands: str) -> None:
    """See `help`."""
    refuse_file(directory)
    directory.mkdir(parents=True, exist_ok=True)
    found = FLOAT8_MAP if operands == "float8" else RegisterMap()
    texts = {"registers.md": markdown(found), "systoliq_engine.h": c_header(found)}
    texts |= {"dma_registers.md": dma_markdown(), "systoliq_dma.h": dma_c_header()}
    for name, text in texts.items():
        write_file(directory / name, text.encode())
        click.echo(f"wrote {directory / name}")
