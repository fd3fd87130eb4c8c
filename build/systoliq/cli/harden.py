"""The command `systoliq harden`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from ..harden.harden import harden_package
from ..harden.report import Hardened
from ..progress import Stages
from .options import PATH
from .shell import debug_option

__all__ = ["harden"]


@click.command(
    help="""Lay out the package in DIR in standard cells: GDS, area, timing with wires, DRC, LVS and a picture.

qflow places and routes it with OSU018, a library for 0.18 um. Magic counts errors of the design rules, Netgen compares
layout and netlist, and the package's testbench runs on the netlist that Magic extracts from the layout. The cells are
outlines with pins: Debian has no layout of their transistors, so neither the GDS nor the checks contain it. The exit
status is 1 if a check finds an error. Needs: apt-get install qflow qflow-tech-osu018 yosys graywolf qrouter magic
netgen-lvs iverilog.

\b
Examples
  systoliq harden out/array --out out/layout
  systoliq harden out/fc --out out/layout --density 0.8
"""
)
@click.argument("directory", metavar="DIR", type=PATH)
@click.option("--out", required=True, type=PATH, metavar="OUT", help="Folder for the layout; must be new or empty.")
@click.option(
    "--density", type=click.FloatRange(0.1, 1.0), metavar="D",
    help="Share of the rows that cells take, 0.1 to 1: lower if routing fails.  [as dense as graywolf places]",
)  # fmt: skip
@click.option(
    "--fast", default=1, show_default=True, type=click.IntRange(1, 100), metavar="N",
    help="Place in about an Nth of the time, with longer wires.",
)  # fmt: skip
@click.option(
    "--seconds", default=7200, show_default=True, type=click.IntRange(1), help="Processor time limit of each step."
)
@debug_option
def harden(directory: Path, out: Path, density: float | None, fast: int, seconds: int) -> int:
    """See the help above."""
    with Stages().stage(f"lay out {directory}") as detail:
        figures = harden_package(directory, out, density=density, fast=fast, seconds=seconds, detail=detail)
    table = Table(show_header=False, box=None)
    for label, value in _rows(figures):
        table.add_row(label, value)
    Console(highlight=False).print(table)
    click.echo(f"{out}")
    return 0 if figures.clean else 1


def _rows(figures: Hardened) -> Iterator[tuple[str, str]]:
    yield "technology", "OSU018, 0.18 um, typical corner"
    yield "cells", f"{sum(figures.cells.values())}, of them {figures.registers} registers"
    yield "area", f"{figures.area:.0f} um2, {figures.density:.0%} cells; {figures.wire_length / 1000:.1f} mm of wires"
    yield "MHz", f"{figures.mhz:g} with wires ({figures.mhz_placed:g} without), register to register"
    yield "critical path", figures.critical_path
    yield "DRC", f"{figures.drc_errors} errors (Magic; cells as outlines with pins)"
    yield "LVS", "layout and netlist are equal (Netgen)" if figures.lvs else "layout and netlist differ: see lvs.txt"
    yield "testbench", f"{figures.testbench} (on the extracted netlist)"
