"""The command `systoliq wrap`."""

from __future__ import annotations

from pathlib import Path

import click

from ..design.names import module_name
from ..errors import InputError
from ..files import check_file, write_file
from .options import PATH, check_outside
from .rows import show_rows
from .shell import debug_option
from .shown import shown

__all__ = ["wrap"]


@click.command(
    help="""Write a wrapper of the package in DIR: a Verilog module with other ports around the unchanged block, whose
certificate and testbench stay valid. Select --power-of-two, --active-low-reset or both.

--power-of-two widens tdata and tuser of each AXI4-Stream to a power of two of bytes, which DMA engines such as AMD's
AXI DMA require. Elements stay in the lowest bits of a beat; the results of each beat are padded with zeros.

\b
Examples
  systoliq wrap out/fc --power-of-two --out out/fc_top.v
  systoliq wrap out/fc --power-of-two --active-low-reset --name fc_axi --out out/fc_axi.v
"""
)
@click.argument("directory", metavar="DIR", type=PATH)
@click.option("--out", "output", required=True, type=PATH, metavar="F.v", help="File for the wrapper.")
@click.option("--power-of-two", is_flag=True, help="Streams as wide as a power of two of bytes.")
@click.option("--active-low-reset", is_flag=True, help="A synchronous reset aresetn, active low, instead of rst.")
@click.option("--name", metavar="NAME", help="Name of the wrapper's module.  [the block's, with _top]")
@debug_option
def wrap(directory: Path, output: Path, power_of_two: bool, active_low_reset: bool, name: str | None) -> None:
    """See the help above."""
    from ..package.forms.block import Block
    from ..package.wrapper import wrapper_verilog
    from ..signoff.files import package_files

    check_file("out", output)
    check_outside(directory, output)
    if not power_of_two and not active_low_reset:
        raise InputError("--power-of-two or --active-low-reset must be given: else the wrapper changes nothing")
    block = Block(package_files(directory).sidecar)
    name = module_name(name, f"{block.name}_top")
    if name == block.name:
        raise InputError(f"name must be a Verilog identifier and not the block's own, not {name!r}")
    text = wrapper_verilog(block, name, power_of_two=power_of_two, active_low=active_low_reset)
    write_file(output, text.encode())
    show_rows([("wrote", shown(f"{output}, module {name} around {block.name}"))])
