"""The command `systoliq signoff`."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from ..files import json_bytes, refuse_file, write_file
from ..progress import Stages
from ..signoff import FAILED, Row, sign_off, signoff_html, signoff_json
from ..signoff.page import verdict
from ..synth.targets import open_target
from .options import PATH, TargetName
from .shell import debug_option

__all__ = ["signoff"]

_FILES = ("signoff.html", "signoff.json")


@click.command(
    help="""Answer the questions of a verification lead about the package in DIR, one row for each.

Verifies the package, lints the Verilog with two tools, reads clock and reset from its text, runs the package's own
testbench under both simulators, also without initial values of registers, and measures line, branch, toggle, condition
and stream event coverage. With --target, it also proves the netlist equal to the Verilog. A row states what was found,
and how to get the same answer without this command. The exit status is 1 if a row failed.

\b
Examples
  systoliq signoff out/fc
  systoliq signoff out/net --out out/signoff --seconds 7200
  systoliq signoff out/fc --target ecp5-85k
"""
)
@click.argument("directory", metavar="DIR", type=PATH)
@click.option("--out", "output", type=PATH, metavar="OUT", help="Directory for signoff.html and signoff.json.")
@click.option(
    "--seconds", default=1800, show_default=True, type=click.IntRange(1), help="Processor time limit of a simulation."
)
@click.option(
    "--target", type=TargetName(), metavar="T", help="Part or board whose netlist is compared with the Verilog, too."
)
@debug_option
def signoff(directory: Path, output: Path | None, seconds: int, target: str | None) -> int:
    """See the help above."""
    if output is not None:
        if output.resolve() == directory.resolve():
            raise click.UsageError("--out must be another folder than DIR: a package holds only what emit writes")
        refuse_file(output)
    device = None if target is None else open_target(target)
    with Stages().stage(f"sign off {directory}") as detail:
        rows = list(sign_off(directory, seconds=seconds, detail=detail, target=device))
    Console(width=140, highlight=False).print(_table(rows))
    click.echo(verdict(rows))
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        name = directory.resolve().name
        for file, content in zip(
            _FILES, (signoff_html(name, rows).encode(), json_bytes(signoff_json(name, rows))), strict=True
        ):
            write_file(output / file, content)
            click.echo(f"{output / file}")
    return 1 if any(row.result == FAILED for row in rows) else 0


def _table(rows: list[Row]) -> Table:
    table = Table(box=None, header_style="bold")
    for head in ("item", "result", "question", "found"):
        table.add_column(head, no_wrap=head in ("item", "result"))
    for row in rows:
        table.add_row(row.item, row.result, row.question, row.detail)
    return table
