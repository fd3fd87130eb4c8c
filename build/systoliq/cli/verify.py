"""The command `systoliq verify`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from ..design.from_package import DESCRIBED, WITHOUT_SOURCE
from ..files import check_file, json_bytes, write_file
from ..package.regenerate import Comparison, compare_regenerated, described, read_sidecar
from ..progress import Stages
from ..verify import (
    BASES,
    Ground,
    NotAPackageError,
    Report,
    StageReport,
    boundary_lines,
    layer_digest,
    verify_package,
    without_regeneration,
)
from ..verify.boundary import counted
from .options import PATH
from .shell import debug_option

__all__ = ["verify"]


@click.command()
@click.argument("directory", metavar="DIR", type=PATH)
@click.option(
    "--layer",
    metavar="SOURCE",
    help="Also check that the package was made from this layer file, model or FILE.onnx#NODE.",
)
@click.option(
    "--no-regenerate",
    is_flag=True,
    help="Leave out the comparison with a regenerated package, and print which results then do not stand.",
)
@click.option("--report", "report_file", type=PATH, metavar="R.json", help="File for the verdict and its boundary.")
@debug_option
def verify(directory: Path, layer: str | None, no_regenerate: bool, report_file: Path | None) -> int:
    """Check the package in DIR: derive every claim of its certificate.json again from the Verilog.

    Weights and constants are read from the Verilog, and the range of each column's accumulator follows from them. The
    Verilog's requantizer is compared with the float32 formula (for float8, with exact sums rounded once) in exact
    arithmetic: for every accumulator, or on both sides of each step if there are millions. Each stage of a network is
    checked like this; additions, multiplications, tables, concatenations and maxima are checked in all cases. The
    summary names the parts that are only tested.

    Then the package is regenerated from its layer or network and hardware, and every file is compared. A package of an
    engine or an array has no certificate, and is only regenerated, from its description. Other packages are refused.
    A certificate is not a signature: to know whose layer or network it is, compare the digest that is printed, or give
    --layer. Exit status is 1 if anything differs, with one line for each reason.

    The verdict ends with its boundary: a table that states for each result whether the Verilog's text shows it
    (derived), the Verilog's logic was evaluated (evaluated), or it rests on the generator (regenerated, tested).
    """
    if no_regenerate and layer is not None:
        raise click.UsageError("--layer compares with a regenerated package; omit --layer or --no-regenerate")
    if report_file is not None:
        check_file("report", report_file)
    with Stages().stage(f"verify {directory}") as detail:
        report = _report(directory, detail, needed=no_regenerate)
    reasons = list(report.reasons) if report is not None else []
    compared = None
    if not reasons and not no_regenerate:
        with Stages().stage(f"regenerate {directory} and compare"):
            compared = compare_regenerated(directory, layer)
        reasons += compared.reasons
    boundary = _boundary(report, compared) if not reasons else []
    for stage in report.stages if report is not None else ():
        if stage.passed:
            click.echo(_stage_line(stage))
    for reason in reasons:
        click.echo(f"refused: {reason}", err=True)
    if report_file is not None:
        write_file(report_file, json_bytes(_facts(report, compared, reasons, boundary)))
    if reasons:
        return 1
    if report is not None:
        click.echo(_summary(report, "verified" if compared is not None else "verified without regeneration"))
    if compared is not None:
        whose = f", that of {compared.source}" if compared.source else ""
        if compared.kind not in WITHOUT_SOURCE:
            click.echo(f"{compared.kind}: sha256 {layer_digest(directory, compared.name, compared.kind)}{whose}")
        click.echo(_compared(compared))
    elif report is not None:
        click.echo(f"{'network' if report.stages else 'layer'}: sha256 {report.layer_sha256}")
        click.echo("not regenerated: results marked 'not checked' do not stand")
    click.echo("\n".join(["what each result rests on:", *boundary_lines(boundary)]))
    return 0


def _stage_line(stage: StageReport) -> str:
    """The checks of a stage that passed."""
    name = f"stage {stage.node} ({stage.operator})"
    if stage.tested:
        return f"tested, not certified: {name}"
    if stage.open:
        return f"verified in part: {name}: {stage.tried}; tested: {stage.open}"
    return f"verified: {name}: {stage.tried}"


def _all_of(stages: int) -> str:
    return "its only stage" if stages == 1 else f"all {stages} stages"


def _report(directory: Path, detail: Callable[[str], None], *, needed: bool) -> Report | None:
    """The derived certificate; None if the package has no certificate."""
    try:
        return verify_package(directory, detail)
    except NotAPackageError:
        sidecar = read_sidecar(directory) if directory.is_dir() else None
        if needed or sidecar is None or sidecar.get("kind") not in DESCRIBED:
            raise
        return None


def _boundary(report: Report | None, compared: Comparison | None) -> Sequence[Ground]:
    """The basis of each result; without a certificate, the comparison of files alone."""
    if report is None:
        return [Ground(result="everything", basis="regenerated", detail="the package has no certificate")]
    return report.boundary if compared is not None else without_regeneration(report.boundary)


def _facts(
    report: Report | None, compared: Comparison | None, reasons: Sequence[str], boundary: Sequence[Ground]
) -> dict[str, Any]:
    """The verdict and its boundary for --report."""
    found = compared if report is None else report
    return {
        "name": None if found is None else found.name,
        "passed": not reasons,
        "regenerated": compared is not None,
        "reasons": list(reasons),
        "boundary": [each.as_json() for each in boundary],
        "bases": BASES,
    }


def _summary(report: Report, verdict: str) -> str:
    """The overall `verdict`, with the number of checks and the requantizers."""
    tried = ((report.columns, "column"), (report.steps, "step"), (report.points, "accumulator"))
    parts = f"in {', '.join(counted(*each) for each in tried)} tried"
    low, high = report.accumulators
    if report.stages:
        verified, count = sum(not stage.tested for stage in report.stages), len(report.stages)
        if not verified:
            return f"tested, not certified: {report.name}: {_all_of(count)}"
        which = _all_of(count) if verified == count else f"{verified} of {count} stages"
        in_part = sum(bool(stage.open) for stage in report.stages)
        how_many = "" if count == 1 else f"{in_part} of them "
        text = f"{verdict}: {report.name}: {which}" + (f", {how_many}in part" if in_part else "")
        if not report.columns:
            return text
        text += f"; {report.formula} {parts}"
    else:
        text = f"{verdict}: {report.name} equals {report.formula} {parts}, over all reachable ones ({low} to {high})"
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
    fields = f"{', '.join(most)} and {last}" if most else last
    return (
        f"compared: {compared.files} files are what {compared.generator} writes for {described(compared.kind)}\n"
        f"not compared: {fields} in {compared.name}.json, which only its author knows"
    )
