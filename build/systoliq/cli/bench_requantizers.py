"""The command `systoliq bench-requantizers`."""

from __future__ import annotations

import click

from ..benchmarks.requantizers import table
from .shell import debug_option

__all__ = ["bench_requantizers"]


@click.command(
    name="bench-requantizers",
    help="""Print what each form of requantizer costs the layers SOURCES (by default digits and resnet8-fc), in
Markdown.

The tables have the exactness of each form and the cells of one drain lane: docs/measurements/exactness.md.

\b
Example
  systoliq bench-requantizers digits
""",
)
@click.argument("sources", nargs=-1)
@debug_option
def bench_requantizers(sources: tuple[str, ...]) -> None:
    """See `help`."""
    for source in sources or ("digits", "resnet8-fc"):
        for line in table(source):
            click.echo(line)
        click.echo()
