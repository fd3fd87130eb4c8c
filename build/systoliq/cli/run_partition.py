"""`systoliq run` of a directory that `systoliq partition` wrote."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from systoliq.golden.archive import npz_bytes, read_arrays
from systoliq.sim.choice import SimulatorChoice

from ..errors import InputError
from ..files import json_bytes, write_file
from ..progress import Stages
from ..samples import check_labels, hit_share
from .labels import show_accuracy
from .shown import shown

__all__ = ["refuse_engine", "run_partition"]


def refuse_engine(options: Mapping[str, Any]) -> None:
    """Raise InputError for an option of the engine, which a partition has none of."""
    if given := [name for name, value in options.items() if value is not None]:
        raise InputError(f"{given[0]} cannot be used with a partition, whose network runs as a pipeline of stages")


def run_partition(
    directory: Path, input_: Path, *, output: Path | None, report: Path | None, simulator: SimulatorChoice,
    stalls: float, seed: int,
) -> int:  # fmt: skip
    """Run the partition in `directory` and return the exit status: 1 if anything differs."""
    from ..partition import is_partition, play  # with Amaranth, which --help does not need

    if not is_partition(directory):
        raise InputError(f"{directory}: must be a model or a directory of systoliq partition")
    feed = read_arrays(input_)
    labels = feed.pop("labels", None)
    check_labels(input_, labels, feed.values())
    with Stages().stage(f"run {directory}") as detail:
        played = play(directory, feed, simulator=simulator, stalls=stalls, seed=seed, progress=detail)
    first = next(iter(played.outputs.values()))
    accuracy = {} if labels is None else {"accuracy": hit_share(input_, labels, first)}
    if output is not None:
        write_file(output, npz_bytes(played.outputs))
    if report is not None:
        write_file(report, json_bytes(played.facts() | accuracy))
    figures = played.network.report
    click.echo(
        f"network in {figures['simulator']}: {figures['outputs']:,} integers compared with golden, "
        f"{figures['mismatches']} differ; {played.network_mismatches} differ from onnxruntime; "
        f"{figures['cycles']:,} cycles"
    )
    for line in (*figures["first_mismatches"], *figures["violations"]):
        click.echo(shown(f"mismatch: {line}"), err=True)
    if labels is not None:
        show_accuracy(accuracy["accuracy"], len(labels))
    count = sum(array.size for array in played.outputs.values())
    click.echo(
        f"{'PASS' if played.passed else 'FAIL'}: {count:,} elements of the model's outputs compared with onnxruntime's "
        f"for the whole model, {played.mismatches} differ"
    )
    return 0 if played.passed else 1
