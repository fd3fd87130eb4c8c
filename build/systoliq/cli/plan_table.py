"""Table of a network's plan, for those who wait for it to be built."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..design.stage_table import COUNTED, stage_table
from ..synth.families import FAMILIES
from .shell import tell_notes
from .shown import shown

if TYPE_CHECKING:
    from ..design import Design
    from ..synth.targets import Target

__all__ = ["show_plan"]

_WIDTH = 160  # of lines that go to no terminal
_WORDS = 4  # columns that are no numbers


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
    heads, rows = stage_table(design.stages, design.cells)
    table = Table(*heads[:_WORDS], box=None, pad_edge=False)
    for head in heads[_WORDS:]:
        table.add_column(head, justify="right")
    for row in rows:
        table.add_row(Text(shown(row[0]), overflow="fold"), *row[1:], style="bold" if row is rows[-1] else None)
    if part is not None and part.capacity:
        table.add_row(*_there_is(part, [key for key in COUNTED if key in design.stages[0]]))
    return table


def _there_is(part: Target, counted: list[str]) -> list[str]:
    """The row with the capacity of the part."""
    large = FAMILIES[part.family].large_blocks
    counts = {key: str(part.capacity.get(COUNTED[key][1], "")) for key in counted}
    if "ram" in counts and large:
        counts["ram"] += f" and {large} large"
    return [part.name, *[""] * 5, *counts.values()]
