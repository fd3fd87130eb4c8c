"""Table of a network's plan, for those who wait for it to be built."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .shell import tell_notes
from .shown import shown

if TYPE_CHECKING:
    from ..design import Design
    from ..synth.targets import Target

__all__ = ["show_plan"]

_WIDTH = 160  # of lines that go to no terminal
_COUNTED = {
    "multipliers": ("multipliers", ""),
    "dsp": ("multiplier cells", "dsp"),
    "lut_sites": ("LUT sites, about", "lut_sites"),
    "ram": ("memory blocks, about", "ram"),
}  # the head of a figure that adds up, and of what a part has


def show_plan(design: Design, part: Target | None) -> None:
    """Print the plan of `design`, if it has one: the sums of its stages, what there is on `part`, and the notes. For a
    design without stages, print the chosen parameters.
    """
    if not design.stages:
        for choice in design.choices:
            click.echo(choice)
        return
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH)
    console.print(_plan_table(design, part))
    for choice in design.choices:
        console.print(shown(choice), soft_wrap=True, markup=False)
    tell_notes(design.notes)


def _plan_table(design: Design, part: Target | None) -> Table:
    stages = design.stages
    counted = [key for key in _COUNTED if key in stages[0]]
    table = Table("stage", "operator", "cols x depth", "cells", box=None, pad_edge=False)
    for head in ("cycles", "of the slowest", *(_COUNTED[key][0] for key in counted)):
        table.add_column(head, justify="right")
    for stage in stages:
        table.add_row(
            Text(shown(stage["node"]), overflow="fold"),
            stage["operator"],
            f"{stage['cols']} x {stage['depth']}",
            _cells(stage, design.cells),
            str(stage["image_cycles"]),
            f"{stage['share_of_slowest']:.0%}",
            *(str(stage[key]) for key in counted),
        )
    slowest = max(stage["image_cycles"] for stage in stages)
    sums = (str(sum(stage[key] for stage in stages)) for key in counted)
    table.add_row("all", "", "", "", str(slowest), "", *sums, style="bold")
    if part is not None and part.capacity:
        table.add_row(*_there_is(part, counted))
    return table


def _cells(stage: Mapping[str, Any], usual: str) -> str:
    """Return the cells of products, and of requantizers where the plan names others."""
    lanes = stage.get("lane_cells")
    return (stage["cells"] or usual) + (f", requantizer {lanes}" if lanes else "")


def _there_is(part: Target, counted: list[str]) -> list[str]:
    """The row with the capacity of the part."""
    return [part.name, *[""] * 5, *(str(part.capacity.get(_COUNTED[key][1], "")) for key in counted)]
