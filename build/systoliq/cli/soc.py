"""The command `systoliq soc`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.console import Console

from systoliq.hw.dma.bus import BUS_BYTES
from systoliq.hw.soc import SocConfig

from ..board.boards import open_board
from ..design import EngineOptions
from ..design.engine.configuration import engine_config
from ..package.output import check_output, write_output
from ..progress import Stages
from ..soc.board import PINS
from ..soc.compiler import has_compiler
from ..soc.design import SocDesign
from ..soc.simulate import PASSED, simulate_system
from .options import OUT_OPTION, REPLACE_OPTION
from .shell import debug_option, warn_symlink

__all__ = ["soc"]

_DEFAULTS = SocConfig()


@click.command(
    help="""Write an example system: a RISC-V (picorv32), memory, a UART and the DMA engine on one AXI4
bus, with firmware in C that classifies handwritten digits with and without the engine.

\b
Files in the directory
  soc.v, picorv32.v   the system, Verilog-2005; soc_tb.v prints what its UART sends
  *.c, *.h, start.S, link.ld   firmware, including the engine's portable driver
  firmware.mem        initial contents of the memory: the firmware, compiled by ziglang
                      if it is installed
  soc_ulx3s.v, ulx3s.lpf   the system on the board
  Makefile, README.md firmware, simulation, bitstream

\b
Examples
  systoliq soc --out out/soc --simulate
  systoliq soc --out out/soc --rows 8 --cols 8 --bus 64 --ram-kib 128
  systoliq soc --out out/soc --board orangecrab
"""
)
@OUT_OPTION
@REPLACE_OPTION
@click.option(
    "--board", type=click.Choice([*PINS]), default="ulx3s-85f", show_default=True, help="Board of the bitstream."
)
@click.option("--rows", type=int, metavar="N", help="Rows of the engine's array.  [4; 3 on orangecrab]")
@click.option("--cols", type=int, metavar="N", help="Columns of the engine's array.  [4]")
@click.option("--depth", type=int, metavar="N", help="Pairs that an element multiplies per cycle.  [1]")
@click.option(
    "--lanes",
    type=int,
    metavar="N",
    help="Results that leave the engine per cycle; a power of two.  [4; 1 on orangecrab]",
)
@click.option(
    "--bus",
    type=click.Choice([str(8 * size) for size in BUS_BYTES]),
    default="32",
    show_default=True,
    help="Bits of the bus.",
)
@click.option(
    "--ram-kib", type=int, default=_DEFAULTS.ram_kib, show_default=True, metavar="N", help="Memory, a power of two."
)
@click.option("--baud", type=int, default=1_000_000, show_default=True, metavar="N", help="Speed of the UART.")
@click.option("--images", type=int, default=16, show_default=True, metavar="N", help="Digits to classify.")
@click.option("--simulate", is_flag=True, help="Run the whole system under Verilator too.")
@debug_option
def soc(
    out: Path, replace: bool, board: str, rows: int | None, cols: int | None, depth: int | None, lanes: int | None,
    bus: str, ram_kib: int, baud: int, images: int, simulate: bool,
) -> int:  # fmt: skip
    """See `help`."""
    check_output(out)
    warn_symlink(out)
    given = {"rows": rows, "cols": cols, "depth": depth, "lanes": lanes}
    asked: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    engine = engine_config(EngineOptions(**{**PINS[board].engine, **asked}))
    clock = round(open_board(board).hz)
    config = SocConfig(engine=engine, bus_bytes=int(bus) // 8, ram_kib=ram_kib, clock_hz=clock, baud=baud)
    design = SocDesign(config=config, images=images, board=board)
    console, stages, compiled = Console(highlight=False), Stages(), has_compiler()
    if compiled or simulate:
        with stages.stage("firmware"):
            design.compile()
    with stages.stage("write the system"):
        files = design.files(compiled=compiled)
        write_output(out, files, replace=replace)
    for name, content in files.items():
        console.print(f"{out / name}  [dim]{len(content)} bytes[/dim]", soft_wrap=True)
    if not compiled:
        click.echo(
            "note: ziglang is not installed, so the firmware is not compiled: pip install 'systoliq[soc]'", err=True
        )
    if not simulate:
        return 0
    with stages.stage("simulate") as progress:
        run = simulate_system(design, progress=progress, on_line=click.echo)
    console.print(f"{run.cycles} cycles in {run.seconds:.1f} s")
    return 0 if PASSED in run.lines else 1
