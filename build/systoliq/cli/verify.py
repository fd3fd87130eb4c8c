"""The command `systoliq verify`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from ..package.regenerate import Comparison, compare_regenerated, read_sidecar
from ..progress import Stages
from ..verify import TESTED, NotAPackageError, Report, layer_digest, verify_package
from .options import PATH
from .shell import debug_option

__all__ = ["verify"]

_COMPARED_KINDS = ("layer", "network")  # of packages: those that have in them what they are of


@click.command()
@click.argument("directory", metavar="DIR", type=PATH)
@click.option(
    "--layer",
    metavar="SOURCE",
    help="Also check that the package was made from this layer file, model or FILE.onnx#NODE.",
)
@debug_option
def verify(directory: Path, layer: str | None) -> int:
    """Check the package in DIR: derive every claim of its certificate.json again from the Verilog.

    Weights and constants are read from the Verilog, and the range of each column's accumulator follows from them. The
    Verilog's requantizer is compared with the float32 formula (for float8, with exact sums rounded once) in exact
    arithmetic: for every accumulator, or on both sides of each step if there are millions. Each stage of a network is
    checked like this; additions, multiplications, tables, concatenations and maxima are checked in all cases. The
    summary names what is only tested.

    Then the package is regenerated from its layer or network and hardware, and every file is compared. A package
    without these is refused. A certificate is not a signature: to know whose layer or network it is, compare the digest
    that is printed, or give --layer. Exit status is 1 if anything differs, with one line for each reason.
    """
    with Stages().stage(f"verify {directory}") as detail:
        report = _report(directory, detail)
    reasons = list(report.reasons) if report is not None else []
    if not reasons:
        with Stages().stage(f"regenerate {directory} and compare"):
            compared = compare_regenerated(directory, layer)
        reasons += compared.reasons
    for stage in report.stages if report is not None else ():
        if stage.passed:
            name = f"stage {stage.node} ({stage.operator})"
            click.echo(f"tested, not certified: {name}" if stage.tested else f"verified: {name}: {stage.tried}")
    for reason in reasons:
        click.echo(f"refused: {reason}", err=True)
    if report is not None and report.stages:
        click.echo(f"tested, not certified: {TESTED}")
    if reasons:
        return 1
    if report is not None:
        click.echo(_summary(report))
    whose = f", that of {compared.source}" if compared.source else ""
    click.echo(f"{compared.kind}: sha256 {layer_digest(directory, compared.name, compared.kind)}{whose}")
    click.echo(_compared(compared))
    return 0


def _report(directory: Path, detail: Callable[[str], None]) -> Report | None:
    """What was derived; None where there is nothing to derive, as the package carries no certificate."""
    try:
        return verify_package(directory, detail)
    except NotAPackageError:
        sidecar = read_sidecar(directory) if directory.is_dir() else None
        if sidecar is None or sidecar.get("kind") not in _COMPARED_KINDS:
            raise
        return None


def _summary(report: Report) -> str:
    """What was verified of the whole, and with what requantizers."""
    parts = f"in {report.columns} columns, {report.steps} steps, {report.points} accumulators tried"
    low, high = report.accumulators
    if report.stages:
        verified, count = sum(not stage.tested for stage in report.stages), len(report.stages)
        if not verified:
            return f"tested, not certified: {report.name}: all {count} stages"
        which = f"all {count}" if verified == count else f"{verified} of {count}"
        text = f"verified: {report.name}: {which} stages"
        if not report.columns:
            return text
        text += f"; {report.formula} {parts}"
    else:
        text = f"verified: {report.name} equals {report.formula} {parts}, over all reachable ones ({low} to {high})"
    if report.complete < report.columns:
        text += (
            f"\nevery accumulator tried: in {report.complete} of {report.columns} columns; else on both sides of steps"
        )
    else:
        text += "\nevery accumulator tried: in all columns"
    return f"{text}\nrequantizer: {report.rounding}, multipliers of {report.multiplier_bits} bits"


def _compared(compared: Comparison) -> str:
    """Describe which files were compared, and which fields of the sidecar were not."""
    *most, last = compared.left
    left = f"{', '.join(most)} and {last} in {compared.name}.json, which only its author knows"
    return (
        f"compared: {compared.files} files are what {compared.generator} writes for this {compared.kind} and hardware\n"
        f"not compared: {left}"
    )
