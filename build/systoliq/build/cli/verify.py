"""The command `systoliq verify`."""

from __future__ import annotations

from pathlib import Path

import click

from ..progress import Stages
from ..verify import TESTED, Report, verify_package
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
    rounded once), in exact arithmetic, on both sides of each of its steps. Of a network each stage is checked so;
    additions, multiplications, tables, concatenations and maxima in all cases that there are; what is tested only, is
    named. Exit status is 1 where anything differs; each reason is reported in a line.
    """
    with Stages().stage(f"verify {directory}") as detail:
        report = verify_package(directory, detail)
    for stage in report.stages:
        if stage.passed:
            name = f"stage {stage.node} ({stage.operator})"
            click.echo(f"tested, not certified: {name}" if stage.tested else f"verified: {name}: {stage.tried}")
    for reason in report.reasons:
        click.echo(f"refused: {reason}", err=True)
    if report.stages:
        click.echo(f"tested, not certified: {TESTED}")
    if report.passed:
        click.echo(_summary(report))
    return 0 if report.passed else 1


def _summary(report: Report) -> str:
    """What was verified of the whole, and with what requantizers."""
    parts = f"in {report.columns} columns, {report.steps} steps, {report.points} accumulators tried"
    low, high = report.accumulators
    if report.stages:
        verified, count = sum(not stage.tested for stage in report.stages), len(report.stages)
        which = f"all {count}" if verified == count else f"{verified} of {count}"
        text = f"verified: {report.name}: {which} stages; {report.formula} {parts}"
    else:
        text = f"verified: {report.name} equals {report.formula} {parts}, over all reachable ones ({low} to {high})"
    return f"{text}\nrequantizer: {report.rounding}, multipliers of {report.multiplier_bits} bits"
