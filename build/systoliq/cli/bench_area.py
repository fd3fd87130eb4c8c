"""The command `systoliq bench-area`."""

from __future__ import annotations

from pathlib import Path

import click

from ..benchmarks.area import DESIGNS, measure, replace_table, table
from ..errors import InputError
from ..files import check_file, json_bytes, write_file
from .options import PATH
from .shell import debug_option

__all__ = ["bench_area"]


@click.command(
    name="bench-area",
    help="""Measure area and frequency of the designs in docs/measurements/silicon.md, and print
their table in Markdown.

\b
Examples
  systoliq bench-area --only "engine 4 x 4"
  systoliq bench-area --update docs/measurements/silicon.md
""",
)
@click.option(
    "--seeds", type=click.IntRange(min=1), default=3, show_default=True, help="Place and route: seeds 1 to N."
)
@click.option("--only", default="", metavar="TEXT", help="Measure only designs whose name contains TEXT.  [all]")
@click.option("--update", type=PATH, metavar="FILE.md", help="Replace the table in this document.")
@click.option("--report", type=PATH, metavar="R.json", help="File for all figures.")
@debug_option
def bench_area(seeds: int, only: str, update: Path | None, report: Path | None) -> None:
    """See `help`."""
    check_file("update", update)
    check_file("report", report)
    names = [name for name in DESIGNS if only in name]
    if not names:
        raise InputError(f"only must be part of a name, such as {next(iter(DESIGNS))!r}, not {only!r}")
    if update is not None and only:
        raise InputError("update cannot be used with only: the document has the whole table")
    reports = measure(names, range(1, seeds + 1), lambda line: click.echo(line, err=True))
    text = table(reports)
    click.echo(text)
    if report is not None:
        write_file(report, json_bytes({name: each.as_json() for name, each in reports.items()}))
    if update is not None:
        write_file(update, replace_table(update.read_text(encoding="utf-8"), text).encode())
