"""The command `systoliq run`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from systoliq.golden.archive import npz_bytes, read_arrays
from systoliq.sim.choice import SimulatorChoice, chosen_for_engine

from ..design.engine.facts import config_facts
from ..errors import naming
from ..files import check_file, json_bytes, write_file
from ..inference import EngineSession, InferenceReport
from ..inference.feed import checked_feed
from ..onnx import Model
from ..progress import Stages
from ..samples import check_labels, hit_share
from .integer_engine import INTEGER_ENGINE_OPTIONS, integer_engine
from .labels import show_accuracy
from .options import PATH, SIMULATOR_OPTION, add_options
from .run_partition import refuse_engine, run_partition
from .saturated import SATURATED, note_saturated
from .shell import debug_option, tell_notes
from .shown import shown

__all__ = ["run"]

_SHOWN = 10  # lines of mismatches
_WIDTH = 160  # of the table in a file or a pipe


@click.command(
    help="""Run a whole quantized ONNX model, its products on the engine's RTL.

Matrix products and convolutions of 8-bit integers run on the engine in a simulator: QLinearMatMul, QLinearConv, QGemm,
MatMulInteger, ConvInteger and the operators into which onnxruntime fuses QDQ models and dynamic quantization. All other
nodes run in onnxruntime, and so do depthwise convolutions if the engine has streams instead of a memory (--bus). Each
product and the model's outputs are compared with golden and onnxruntime. Exit status is 1 if anything differs. It is 3
if the hardware is right and onnxruntime's own kernels saturate on this processor (docs/onnx.md).

FILE.onnx may also be a directory of systoliq partition: then its network runs as Verilog, and what comes before and
after it in onnxruntime, with a profile by stage. The engine's options cannot be used with it.

Input and output are archives with one array per input and output of the model, by name. If the input has labels [M],
the accuracy of the first output is shown.

\b
Examples
  systoliq run model.onnx --input x.npz --rows 16 --cols 16
  systoliq run model.onnx --input x.npz --output y.npz --report report.json
  systoliq run model.onnx --input x.npz --only /fc/Gemm --stalls 0.3
  systoliq run model.onnx --input x.npz --rows 16 --cols 16 --bus 128
  systoliq run out/parts --input x.npz --stalls 0.3
"""
)
@click.argument("model", metavar="FILE.onnx", type=PATH)
@click.option("--input", "input_", required=True, type=PATH, metavar="X.npz", help="Archive with the model's inputs.")
@click.option("--output", type=PATH, metavar="Y.npz", help="Archive for the model's outputs.")
@click.option("--tensors", type=PATH, metavar="T.npz", help="Archive for the tensors between all steps.")
@click.option("--report", type=PATH, metavar="R.json", help="File for the report.")
@click.option("--only", multiple=True, metavar="NODE", help="Run only this product on the engine; may be repeated.")
@SIMULATOR_OPTION
@click.option(
    "--stalls",
    type=float,
    default=0.0,
    metavar="P",
    help="Probability of a pause per cycle, on each stream or memory channel.  [0]",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, metavar="N", help="Seed of the pauses.  [0]")
@add_options(*INTEGER_ENGINE_OPTIONS, debug_option)
def run(
    model: Path, input_: Path, output: Path | None, tensors: Path | None, report: Path | None, only: tuple[str, ...],
    simulator: SimulatorChoice, stalls: float, seed: int, engine: Path | None, **hardware: Any,
) -> int:  # fmt: skip
    """See `help`."""
    for option, path in (("output", output), ("tensors", tensors), ("report", report)):
        check_file(option, path)
    if model.is_dir():
        refuse_engine({"only": only or None, "tensors": tensors, "engine": engine, **hardware})
        return run_partition(model, input_, output=output, report=report, simulator=simulator, stalls=stalls, seed=seed)
    stages = Stages()
    config, bus = integer_engine(engine, hardware)
    feed = read_arrays(input_)
    opened = Model.open(model)
    tell_notes(opened.notes())
    with stages.stage(f"run {model.name}") as detail:
        session = EngineSession(
            opened, config, only=only or None,
            simulator=chosen_for_engine(simulator), stalls=stalls, seed=seed, progress=detail, bus=bus,
        )  # fmt: skip
        labels = None if "labels" in [each.name for each in session.get_inputs()] else feed.pop("labels", None)
        check_labels(input_, labels, feed.values())
        with naming(input_):
            checked_feed(session.get_inputs(), feed)
        results = session.run(None, feed)
    accuracy = {} if labels is None else {"accuracy": hit_share(input_, labels, results[0])}
    found = session.report
    if output is not None:
        names = [each.name for each in session.get_outputs()]
        write_file(output, npz_bytes(dict(zip(names, results, strict=True))))
    if tensors is not None:
        write_file(tensors, npz_bytes(session.tensors))
    if report is not None:
        write_file(report, json_bytes(found.facts() | accuracy | {"engine": config_facts(config) | {"bus_bits": bus}}))
    _show(found)
    if labels is not None:
        show_accuracy(accuracy["accuracy"], len(labels))
    if not found.passed:
        return 1
    return SATURATED if found.saturated else 0


def _show(report: InferenceReport) -> None:
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH)
    table = Table("product", "operator", "M x K x N", box=None, pad_edge=False)
    in_memory = any(step.beats for step in report.steps)
    lists = ("bytes of lists", "by host", "beats") if in_memory else ()
    for head in ("jobs", "cycles", "utilization", "bytes A", "bytes B", "bytes Y", *lists):
        table.add_column(head, justify="right")
    for step in report.steps:
        shape = " x ".join(map(str, step.shapes[0] if step.shapes else ())) + (
            f" ({len(step.shapes)} groups)" if len(step.shapes) > 1 else ""
        )
        figures = (
            f"{step.jobs}",
            f"{step.cycles:,}",
            f"{step.utilization:.1%}",
            *(f"{n:,}" for n in step.bytes.values()),
            *([f"{sum(step.beats.values()):,}"] if step.beats else []),
        )
        table.add_row(Text(shown(step.name), overflow="fold"), step.operator, shape, *figures)
    console.print(table)
    for name, (operator, reason) in report.host.items():
        console.print(shown(f"host: {operator} {name!r}: {reason}"), soft_wrap=True, markup=False)
    outputs = sum(step.outputs for step in report.steps)
    products = sum(bool(step.shapes) for step in report.steps)
    unit = f", {len(report.steps) - products} steps of the vector unit" if products < len(report.steps) else ""
    elements = sum(end.elements for end in report.outputs.values())
    click.echo(
        f"{products} products on the engine{unit}, {report.multiply_accumulates:,} multiply-accumulates in "
        f"{report.cycles:,} cycles, {report.utilization:.1%}"
    )
    lines = report.mismatches
    for line in lines[:_SHOWN]:
        click.echo(shown(f"mismatch: {line}"), err=True)
    compared = f"{outputs:,} outputs of products and {elements:,} of the model compared"
    if report.passed and report.saturated:
        first, *others = report.saturated
        also = f", and outputs of {len(others)} more products" if others else ""
        note_saturated(
            f"{first.onnxruntime_saturated} of {first.outputs} outputs of {first.operator} {first.name!r}{also}"
        )
        click.echo(f"PASS: {compared}, with onnxruntime's exact result where its own saturates")
    else:
        click.echo(f"{'FAIL' if lines else 'PASS'}: {compared}")
