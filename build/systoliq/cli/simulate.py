"""The command `systoliq simulate`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from systoliq.golden.archive import npz_bytes, read_arrays
from systoliq.sim.choice import SimulatorChoice
from systoliq.sim.simulated import figure_rows

from ..design import Design, open_source
from ..design.design import Arrays
from ..design.sources import following_layers
from ..errors import InputError
from ..files import check_file, json_bytes, write_file
from ..progress import Stages
from ..samples import check_labels, hit_share
from ..synth import NETLISTS
from ..synth.targets import Target, open_target
from .labels import show_accuracy
from .options import (
    BUS_OPTION,
    CELLS_OPTION,
    ENGINE_OPTIONS,
    HARDWARE_OPTIONS,
    NETWORK_OPTIONS,
    PATH,
    SIMULATOR_OPTION,
    SOURCE_HELP,
    SOURCE_OPTIONS,
    TARGET_OPTION,
    add_options,
    hardware_of,
)  # fmt: skip
from .plan_table import show_plan
from .saturated import SATURATED, note_saturated
from .shell import debug_option, tell_notes
from .shown import shown

__all__ = ["simulate"]

_SHOWN = 10  # mismatches


@click.command(
    help=f"""Run SOURCE's Verilog on your own input and compare every output with golden.

{SOURCE_HELP}

\b
Arrays of the input, by SOURCE
  layer    a [..., K] of A's type (or a .npy file of it), or y, the output of another layer.
           If zero points arrive with A (dynamic quantization): a and a_zero_point, or real numbers x
  network  each input of the graph, real or quantized
  array    a [M, K] and b [K, N]
  engine   a [..., M, K] and b [..., K, N], int8 or uint8; for a QLinearMatMul also a_scale, a_zero_point,
           b_scale, b_zero_point, y_scale and y_zero_point; without scales a MatMulInteger
If the input of a layer or network has labels [M], the accuracy is shown.

The output archive has y, or each output of a network under its name. Exit status is 1 if an output differs. It is 3
if the hardware is right and onnxruntime's own kernels saturate on this processor (docs/onnx.md).

\b
Examples
  systoliq simulate resnet8-fc --input a.npz --output y.npz --report report.json
  systoliq simulate layer.npz --input a.npz --simulator icarus --stalls 0.3 --waves run.vcd
  systoliq simulate 'model.onnx#/fc/Gemm' --input x.npy --quantize --compare onnxruntime
  systoliq simulate 'dynamic.onnx#fc_quant' --input x.npz --output y.npz --compare onnxruntime
  systoliq simulate array --rows 4 --cols 4 --input ab.npz --output y.npz
  systoliq simulate engine --rows 8 --cols 8 --input ab.npz --report report.json
  systoliq simulate resnet8-fc --input a.npz --netlist ice40 --depth 2 --cols 2
"""
)
@click.argument("source")
@click.option(
    "--input",
    "input_",
    required=True,
    type=PATH,
    metavar="A.npz",
    help="Archive with a (array, engine: a and b), or a .npy file.",
)
@click.option(
    "--quantize", is_flag=True, help="Quantize an input of real numbers with A's scale, as QuantizeLinear does."
)
@click.option("--output", type=PATH, metavar="Y.npz", help="Archive for y, or a network's outputs.")
@click.option("--tensors", type=PATH, metavar="T.npz", help="network: archive for the tensors of all stages.")
@click.option("--report", type=PATH, metavar="R.json", help="File for the report.")
@SIMULATOR_OPTION
@click.option("--waves", type=PATH, metavar="FILE", help="Write a trace: .vcd (or .fst under Icarus).")
@click.option(
    "--stalls", type=float, default=0.0, metavar="P", help="Probability of a pause per cycle, on each side.  [0]"
)
@click.option("--seed", type=click.IntRange(min=0), default=0, metavar="N", help="Seed of the pauses.  [0]")
@click.option(
    "--compare",
    type=click.Choice(["onnxruntime"]),
    help="Also compare a layer's outputs with onnxruntime's QLinearMatMul, QGemm or MatMulInteger. "
    "Needs: pip install 'systoliq[demo]'.",
)
@click.option(
    "--netlist",
    type=click.Choice(list(NETLISTS)),
    help="Simulate the netlist after synthesis for this family. Needs: pip install 'systoliq[synth]'.",
)
@add_options(
    TARGET_OPTION,
    *HARDWARE_OPTIONS,
    CELLS_OPTION,
    *ENGINE_OPTIONS,
    BUS_OPTION,
    *NETWORK_OPTIONS,
    *SOURCE_OPTIONS,
    debug_option,
)
def simulate(
    source: str, input_: Path, quantize: bool, compare: str | None, output: Path | None, tensors: Path | None,
    report: Path | None, simulator: SimulatorChoice, waves: Path | None, stalls: float, seed: int, netlist: str | None,
    target: str | None, weights: Path | None, no_bias: bool, name: str | None, **hardware: Any,
) -> int:  # fmt: skip
    """See `help`."""
    for option, path in (("output", output), ("tensors", tensors), ("report", report), ("waves", waves)):
        check_file(option, path)
    stages = Stages()
    with stages.stage(f"design {source}"):
        part = _part(target, netlist)
        asked = hardware_of(hardware, part)
        design = open_source(source, asked, weights=weights, use_bias=not no_bias, name=name)
        if tensors is not None and design.kind != "network":
            raise InputError(f"tensors cannot be used with the source {design.kind}, only with a network")
        operands = design.read_operands(input_, quantize=quantize)
        labels = _labels(source, design, input_, operands)
    show_plan(design, part)
    tell_notes(() if design.stages else design.odd_scales)
    judged = design.onnxruntime(**operands) if compare else None
    with stages.stage("simulate") as detail:
        run = design.simulate(
            **operands, simulator=simulator, stalls=stalls, seed=seed, waves=waves, netlist=netlist, progress=detail
        )
    figures, differing, saturated = run.report, [], []
    if judged is not None:
        differing = _differing(run.outputs, judged)
        if differing:
            exact = design.onnxruntime_exact(**operands)
            differing, saturated = _differing(run.outputs, exact), _differing(exact, judged)
        figures = figures | {"onnxruntime_mismatches": len(differing), "onnxruntime_saturated": len(saturated)}
    if labels is not None:
        figures = figures | {"accuracy": hit_share(input_, labels, run.y)}
    if output is not None:
        write_file(output, npz_bytes(run.outputs))
    if tensors is not None:
        write_file(tensors, npz_bytes({name: each.array for name, each in run.tensors.items()}))
    if report is not None:
        write_file(report, json_bytes(figures))
    _show_run(figures)
    if labels is not None:
        show_accuracy(figures["accuracy"], len(labels))
    for line in differing[:_SHOWN]:
        click.echo(shown(f"mismatch: {line}"), err=True)
    if not run.passed or differing:
        return 1
    if saturated:
        note_saturated(f"{len(saturated)} outputs, the first {saturated[0]}")
        return SATURATED
    return 0


def _labels(source: str, design: Design, path: Path, operands: Arrays) -> npt.NDArray[Any] | None:
    """The labels in the input archive `path`, None where it has none; of networks and last layers alone."""
    labels = None if path.suffix == ".npy" else read_arrays(path).get("labels")
    if labels is not None and design.kind not in ("layer", "network"):
        raise InputError(f"{path}: labels cannot be used with the source {design.kind}, whose results are no classes")
    if labels is not None and design.outputs > 1:
        raise InputError(
            f"{path}: labels must be given for a network with one output, not {design.outputs}: leave them out, and "
            "compare the outputs that --output writes"
        )
    if labels is not None and design.kind == "layer" and (next_ones := following_layers(source)):
        raise InputError(
            f"{path}: labels must be given for the last layer or a whole network, not for {source!r}, whose outputs go "
            f"into {next_ones[0]!r}"
        )
    inputs = operands.get("inputs")
    check_labels(path, labels, (inputs if isinstance(inputs, dict) else operands).values())
    return labels


def _part(target: str | None, netlist: str | None) -> Target | None:
    """The part that was asked for, or one of the netlist's family."""
    if target is None:
        return open_target(NETLISTS[netlist]) if netlist else None
    part = open_target(target)
    if netlist and part.family != open_target(NETLISTS[netlist]).family:
        raise InputError(f"netlist must be of the family of {target}, {part.family}, not {netlist!r}")
    return part


def _differing(found: Mapping[str, npt.NDArray[Any]], right: Mapping[str, npt.NDArray[Any]]) -> list[str]:
    """A line for each element of `right`, onnxruntime's, that `found` has otherwise, to the bit."""
    return [line for name in right for line in _differing_array(name, found[name], right[name])]


def _differing_array(name: str, found: npt.NDArray[Any], right: npt.NDArray[Any]) -> list[str]:
    if found.shape != right.shape:
        return [f"{name}: onnxruntime gave the shape {list(right.shape)}, not {list(found.shape)}"]
    kind = f"u{found.dtype.itemsize}"
    places = np.argwhere(found.view(kind) != right.astype(found.dtype).view(kind))
    return [f"{name}{at.tolist()}: onnxruntime gave {right[tuple(at)]}, not {found[tuple(at)]}" for at in places]


def _show_run(report: dict[str, Any]) -> None:
    table = Table.grid(padding=(0, 2))
    for row in figure_rows(report):
        table.add_row(*row)
    Console(highlight=False).print(table)
    for line in (*report["first_mismatches"], *report["violations"]):
        click.echo(shown(f"mismatch: {line}"), err=True)
