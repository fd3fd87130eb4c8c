"""`systoliq run` of a directory that `systoliq partition` wrote."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from systoliq.golden.archive import npz_bytes, read_arrays
from systoliq.sim.choice import SimulatorChoice

from ..deploy.feed import batches_of
from ..errors import InputError, naming
from ..files import json_bytes, write_file
from ..progress import Stages
from ..samples import check_labels, hit_share
from .labels import show_accuracy
from .shown import shown

if TYPE_CHECKING:
    from ..deploy import NetworkReport
    from ..inference.report import OutputReport

__all__ = ["refuse_engine", "run_partition", "show_comparison"]

_WIDTH = 160  # of the table in a file or a pipe


def refuse_engine(options: Mapping[str, Any]) -> None:
    """Raise InputError for an option of the engine, which a partition has none of."""
    if given := [name for name, value in options.items() if value is not None]:
        raise InputError(f"{given[0]} cannot be used with a partition, whose network runs as a pipeline of stages")


def run_partition(
    directory: Path, input_: Path, *, output: Path | None, report: Path | None, simulator: SimulatorChoice,
    stalls: float, seed: int,
) -> int:  # fmt: skip
    """Run the partition in `directory` and return the exit status: 1 if anything differs."""
    from ..deploy import NetworkSession  # with Amaranth, which --help does not need

    feed = read_arrays(input_)
    labels = feed.pop("labels", None)
    check_labels(input_, labels, feed.values())
    with Stages().stage(f"run {directory}") as detail:
        session = NetworkSession(directory, on=simulator, stalls=stalls, seed=seed, progress=detail)
        with naming(input_):
            batches_of(session.get_inputs(), feed)
        results = session.run(None, feed)
    found = session.report
    accuracy = {} if labels is None else {"accuracy": hit_share(input_, labels, results[0])}
    if output is not None:
        names = [each.name for each in session.get_outputs()]
        write_file(output, npz_bytes(dict(zip(names, results, strict=True))))
    if report is not None:
        write_file(report, json_bytes(found.facts() | accuracy))
    _show_stages(found)
    for line in found.lines:
        click.echo(shown(f"mismatch: {line}"), err=True)
    if labels is not None:
        show_accuracy(accuracy["accuracy"], len(labels))
    show_comparison(found.outputs, passed=found.passed)
    return 0 if found.passed else 1


def show_comparison(outputs: Mapping[str, OutputReport], *, passed: bool = True) -> bool:
    """Print how the model's outputs compare with onnxruntime's; return whether they are equal and all else `passed`."""
    elements = sum(end.elements for end in outputs.values())
    mismatches = sum(end.mismatches for end in outputs.values())
    passed = passed and not mismatches
    click.echo(
        f"{'PASS' if passed else 'FAIL'}: {elements:,} elements of the model's outputs compared with onnxruntime's for "
        f"the whole model, {mismatches} differ"
    )
    return passed


def _show_stages(report: NetworkReport) -> None:
    """Print the profile by stage, and a line on the network."""
    table = Table(*report.stage_heads[:2], box=None, pad_edge=False)
    for head in report.stage_heads[2:]:
        table.add_column(head, justify="right")
    for name, *figures in report.stage_rows:
        table.add_row(Text(shown(name), overflow="fold"), *figures)
    Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH).print(table)
    compared = f"{report.compared:,} integers compared with golden, {report.golden_mismatches} differ; "
    click.echo(
        f"network on {report.on}: {report.images} images, {compared if report.compared else ''}"
        f"{report.onnxruntime_mismatches} differ from onnxruntime; {report.cycles:,} cycles"
        f"{'' if report.measured else ' by the cycle model'}"
    )
