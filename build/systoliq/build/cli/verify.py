"""The command `systoliq verify`."""

from __future__ import annotations

from pathlib import Path

import click

from ..progress import Stages
from ..verify import verify_package
from .options import PATH
from .shell import debug_option

__all__ = ["verify"]


@click.command()
@click.argument("directory", metavar="DIR", type=PATH)
@debug_option
def verify(directory: Path) -> int:
    """Check the package in DIR: derive everything that its certificate.json claims again, from the Verilog.

    Weights and constants are read from the Verilog's text, the range of each column's accumulator follows from them,
    and the answers of the Verilog's requantizer are compared with the float32 formula (for float8, with exact sums
    rounded once), in exact arithmetic, on both sides of each of its steps. Exit status is 1 where anything differs;
    each reason is reported in a line.
    """
    with Stages().stage(f"verify {directory}") as detail:
        report = verify_package(directory, detail)
    for reason in report.reasons:
        click.echo(f"refused: {reason}", err=True)
    if not report.passed:
        return 1
    low, high = report.accumulators
    click.echo(
        f"verified: {report.name} equals {report.formula} in {report.columns} columns, {report.steps} steps, "
        f"{report.points} accumulators tried, over all reachable ones ({low} to {high})\n"
        f"requantizer: {report.rounding}, multipliers of {report.multiplier_bits} bits"
    )
    return 0
