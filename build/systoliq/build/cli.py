"""The command line `systoliq`: what each command takes and shows; the work is done in the files beside this one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.table import Table

from systoliq.hw.cells import CELLS
from systoliq.sim.runner import SimulatorName
from systoliq.sim.tools import all_tools

from .bench import bench
from .choose import AUTO
from .demo import ACCURACY, DemoResult, run_demo
from .design import EngineDesign, LayerDesign
from .engine_options import ENGINE_OPTIONS
from .engine_sidecar import stream_notes
from .errors import InputError
from .explore.command import command as explore_command
from .onnx_import.command import command as layers_command
from .options import REQUANTIZERS, HardwareOptions
from .output import check_output
from .package import make_package, npz_bytes
from .progress import Steps
from .prove.__main__ import prove as prove_command
from .shell import Group, debug_option
from .simulate import check_file, json_bytes, read_operands, run_design, write_file
from .sources import PRESETS, open_source
from .synth import NETLISTS
from .synth.command import SYNTH_HELP, SYNTH_OPTIONS, run_synth
from .synth.targets import Target, open_target
from .verify import verify_package

__all__ = ["cli", "main"]

_Command = TypeVar("_Command", bound=Callable[..., Any])
_PATH = click.Path(path_type=Path)

_SOURCES = "\n".join(f"  {name:<12}{text}" for name, text in PRESETS.items())
_SOURCE_HELP = f"""\b
SOURCE is one of
{_SOURCES}
  FILE.npz    a layer file: b [K, N], a_scale, a_zero_point, b_scale, b_zero_point,
              y_scale, y_zero_point as ONNX's QLinearMatMul has them, optional bias
              int32 [N]; the types of the zero points are those of A, B and Y
  FILE.onnx   a quantized product of an ONNX model, FILE.onnx#NODE where it has several:
              systoliq layers FILE.onnx lists them"""


class _AccumulatorBits(click.ParamType[Any]):
    name = "N|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "auto":
            return value
        try:
            return int(value)
        except ValueError:
            self.fail(f"must be an integer or auto, not {value!r}", param, ctx)


_HARDWARE = (
    click.option("--rows", type=int, metavar="N", help="Rows of the array.  [layer: 1, array: 8, engine: 4]"),
    click.option(
        "--cols",
        type=int,
        metavar="N",
        help="Columns of the array.  [layer: as many as N, up to 16; array: 8; engine: 4]",
    ),
    click.option("--depth", type=int, metavar="N", help="Pairs that an element multiplies in a cycle.  [1]"),
    click.option("--a-bits", type=int, metavar="N", help="Width of A, 2 to 16.  [layer: its own; array: 8]"),
    click.option(
        "--b-bits", type=int, metavar="N", help="Width of the multipliers' B side.  [layer: its own; array: 8]"
    ),
    click.option("--a-signed/--a-unsigned", default=None, help="Sign of A, for the source array.  [signed]"),
    click.option("--b-signed/--b-unsigned", default=None, help="Sign of B, for the source array.  [signed]"),
    click.option(
        "--accumulator-bits",
        type=_AccumulatorBits(),
        help="Width of the accumulators; auto: as few as the layer's sums need.  [32]",
    ),
    click.option(
        "--requantizer",
        type=click.Choice(REQUANTIZERS),
        default=REQUANTIZERS[0],
        help="Rounding. near-tie equals the float32 formula for every accumulator; nearest and floor are smaller, and "
        "refused where they cannot equal it on all that the layer reaches; auto takes the smallest.  [near-tie]",
    ),
    click.option(
        "--multiplier-bits",
        type=int,
        metavar="N",
        help="Round the multipliers to this width, exact or not.  [as needed]",
    ),
    click.option("--wrap", is_flag=True, help="Allow sums beyond the accumulator: they wrap, as ONNX's int32 does."),
)
_CELLS = click.option(
    "--cells",
    type=click.Choice(CELLS),
    help="Cells that multiply and accumulate: portable logic, or those of an FPGA family.  [portable; with --target "
    "and --netlist the family's own]",
)
_SOURCE_OPTIONS = (
    click.option(
        "--weights", type=_PATH, metavar="FILE", help="resnet8-fc: an .npz whose b (and bias, scales) to take."
    ),
    click.option("--no-bias", is_flag=True, help="Leave the layer's bias out, as QLinearMatMul has none."),
    click.option("--name", metavar="NAME", help="Name of the Verilog module.  [after the source]"),
)
_SIMULATOR = click.option(
    "--simulator", type=click.Choice(["verilator", "icarus"]), default="verilator", show_default=True, help="Simulator."
)


def _options(*options: Callable[[Any], Any]) -> Callable[[_Command], _Command]:
    def decorate(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def _split(arguments: dict[str, Any], target: Target | None = None) -> HardwareOptions:
    """Take the options of `_HARDWARE` out of `arguments`; the cells must suit `target`, where there is one."""
    names = HardwareOptions.__dataclass_fields__
    given = {name: arguments.pop(name) for name in names if name in arguments}
    if given.get("cells", "") is None:
        given["cells"] = "portable" if target is None else target.cells
    options = HardwareOptions(**given)
    if target is not None and target.cells != "portable":
        suitable = ("portable", target.cells, *target.other_cells)
        if options.cells not in suitable:
            raise InputError(f"cells must be one of {', '.join(suitable)} for {target.name}, not {options.cells!r}")
    return options


@click.group(
    cls=Group,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    help="""Quantized matrix products as ONNX defines them, in hardware that gives the same bits.

\b
systoliq demo                             the whole way, on handwritten digits
systoliq emit resnet8-fc --out out/fc     Verilog with a testbench that runs anywhere
systoliq simulate out/fc/resnet8_fc_layer.npz --input out/fc/resnet8_fc_vectors.npz
systoliq layers model.onnx                which products of a model can be a SOURCE
systoliq verify out/fc                    check its certificate of exactness
systoliq doctor                           which tools are there
""",
)
@click.version_option(package_name="systoliq")
@debug_option
def cli() -> None:
    """Group of the commands."""


@cli.command(
    help=f"""Write SOURCE as Verilog into a directory, with all that is needed to use and to check it.

{_SOURCE_HELP}

\b
The directory gets
  NAME.v            Verilog-2005; AXI4-Stream ports, clock clk, synchronous reset rst
  NAME_tb.v         a testbench with golden vectors: stalls, a reset in the middle
  NAME.json         ports, packing, latency, cycle model, quantization, versions
  NAME.vlt          Verilator lint waivers, each with its reason
  certificate.json  what is proven about its exactness: systoliq verify DIR checks it
  NAME_models.v     with --cells of a family: models of them, for simulators only
  NAME_vectors.npz  the golden vectors; NAME_layer.npz the layer
and, for an engine, registers.md and systoliq_engine.h, its register map; docs/engine.md says how software drives it

\b
Examples
  systoliq emit resnet8-fc --out out/fc
  iverilog -g2005 -o t out/fc/*.v && vvp t
  systoliq emit layer.npz --out out/layer --rows 4 --cols 8 --depth 4 --cells ecp5
  systoliq emit array --out out/array --rows 16 --cols 16 --a-unsigned --accumulator-bits 24
  systoliq emit engine --out out/engine --rows 16 --cols 16 --dataflow auto --workload products.csv
"""
)
@click.argument("source")
@click.option("--out", required=True, type=_PATH, metavar="DIR", help="Directory: new, empty or written by systoliq.")
@_options(*_HARDWARE, _CELLS, *ENGINE_OPTIONS, *_SOURCE_OPTIONS, debug_option)
def emit(source: str, out: Path, weights: Path | None, no_bias: bool, name: str | None, **hardware: Any) -> None:
    check_output(out)
    options = _split(hardware)
    steps = Steps()
    with steps.step(f"design {source}"):
        design = open_source(source, options, weights=weights, use_bias=not no_bias, name=name)
    with steps.step("write Verilog, testbench and sidecar"):
        package = make_package(design)
        package.write(out)
    console = Console(highlight=False)
    for file, content in package.files.items():
        console.print(f"{out / file}  [dim]{len(content)} bytes[/dim]", soft_wrap=True)
    if isinstance(design, LayerDesign) and options.requantizer == AUTO:
        chosen, saved = design.requantization, package.certificate["requantizer"]["saved_bits"]
        console.print(
            f"requantizer: {chosen.rounding.value}, multipliers of {chosen.multiplier_bits} bits, {saved} saved"
        )
    if isinstance(design, EngineDesign):
        if options.dataflow == AUTO:
            console.print(f"dataflow: {design.config.dataflow}")
        for note in stream_notes(design):
            click.echo(f"note: {note}", err=True)
    mismatches = package.sidecar.get("vectors", {}).get("float32_mismatches", 0)
    if mismatches:
        click.echo(f"note: this requantizer differs from the float32 formula on {mismatches} golden vectors", err=True)


@cli.command(name="emit-engine", hidden=True, add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def emit_engine(context: click.Context, arguments: tuple[str, ...]) -> None:
    """The name of `systoliq emit engine` before 1.0, for one release more."""
    click.echo("emit-engine is now: systoliq emit engine", err=True)
    with emit.make_context("emit", ["engine", *arguments], parent=context.parent) as inner:
        emit.invoke(inner)


@cli.command(
    help=f"""Run SOURCE's Verilog on your own input and compare every output with golden.

{_SOURCE_HELP}

The input holds a ([M, K], of A's type); for the source array a [M, K] and b [K, N]; for the source engine a [..., M, K]
and b [..., K, N], int8 or uint8, with a_scale, a_zero_point, b_scale, b_zero_point, y_scale, y_zero_point a
QLinearMatMul, without scales and y_zero_point a MatMulInteger. The output gets y. Exit status is 1 where an output
differs.

\b
Examples
  systoliq simulate resnet8-fc --input a.npz --output y.npz --report report.json
  systoliq simulate layer.npz --input a.npz --simulator icarus --stalls 0.3 --waves run.vcd
  systoliq simulate array --rows 4 --cols 4 --input ab.npz --output y.npz
  systoliq simulate engine --rows 8 --cols 8 --input ab.npz --report report.json
  systoliq simulate resnet8-fc --input a.npz --netlist ice40 --depth 2 --cols 2
"""
)
@click.argument("source")
@click.option(
    "--input", "input_", required=True, type=_PATH, metavar="A.npz", help="Archive with a (array, engine: a and b)."
)
@click.option("--output", type=_PATH, metavar="Y.npz", help="Archive that gets y.")
@click.option("--report", type=_PATH, metavar="R.json", help="File that gets the report.")
@_SIMULATOR
@click.option("--waves", type=_PATH, metavar="FILE", help="Write a trace: .vcd (or .fst under Icarus).")
@click.option(
    "--stalls", type=float, default=0.0, metavar="P", help="Probability of a pause in a cycle, each side.  [0]"
)
@click.option("--seed", type=click.IntRange(min=0), default=0, metavar="N", help="Of the pauses.  [0]")
@click.option(
    "--netlist",
    type=click.Choice(list(NETLISTS)),
    help="Run the netlist that synthesis for this family makes. Needs: pip install 'systoliq[synth]'.",
)
@_options(*_HARDWARE, _CELLS, *ENGINE_OPTIONS, *_SOURCE_OPTIONS, debug_option)
def simulate(
    source: str, input_: Path, output: Path | None, report: Path | None, simulator: SimulatorName, waves: Path | None,
    stalls: float, seed: int, netlist: str | None, weights: Path | None, no_bias: bool, name: str | None,
    **hardware: Any,
) -> int:  # fmt: skip
    for option, path in (("output", output), ("report", report), ("waves", waves)):
        check_file(option, path)
    steps = Steps()
    with steps.step(f"design {source}"):
        options = _split(hardware, open_target(NETLISTS[netlist]) if netlist else None)
        design = open_source(source, options, weights=weights, use_bias=not no_bias, name=name)
        operands = read_operands(design, input_)
    with steps.step("simulate") as detail:
        run = run_design(
            design, operands, simulator=simulator, stalls=stalls, seed=seed, waves=waves, netlist=netlist,
            progress=detail,
        )  # fmt: skip
    if output is not None:
        write_file(output, npz_bytes({"y": run.y}))
    if report is not None:
        write_file(report, json_bytes(run.report))
    _show_run(run.report)
    return 0 if run.passed else 1


@cli.command(
    help="""The main job on real input: train a linear classifier on scikit-learn's digits, quantize it, emit its
Verilog, run all test images through it, and compare every output with golden and with onnxruntime.

\b
Examples
  systoliq demo
  systoliq demo --simulator icarus --rows 2 --depth 4
"""
)
@click.option("--out", type=_PATH, default=Path("out/demo"), show_default=True, metavar="DIR", help="Directory.")
@_SIMULATOR
@_options(*_HARDWARE, debug_option)
def demo(out: Path, simulator: SimulatorName, **hardware: Any) -> int:
    result = run_demo(out, _split(hardware), simulator, Steps())
    _show_demo(result)
    return 0 if result.passed else 1


@cli.command()
@click.argument("directory", metavar="DIR", type=_PATH)
@debug_option
def verify(directory: Path) -> int:
    """Check the package in DIR: derive everything that its certificate.json claims again, from the Verilog.

    Weights and constants are read from the Verilog's text, the range of each column's accumulator follows from them,
    and the answers of the Verilog's requantizer are compared with the float32 formula, in exact arithmetic, on both
    sides of each of its steps. Exit status is 1 where anything differs; each reason is told in a line.
    """
    with Steps().step(f"verify {directory}") as detail:
        report = verify_package(directory, detail)
    for reason in report.reasons:
        click.echo(f"refused: {reason}", err=True)
    if not report.passed:
        return 1
    low, high = report.accumulators
    click.echo(
        f"verified: {report.name} equals the float32 formula in {report.columns} columns, {report.steps} steps, "
        f"{report.points} accumulators tried, over all reachable ones ({low} to {high})\n"
        f"requantizer: {report.rounding}, multipliers of {report.multiplier_bits} bits"
    )
    return 0


@cli.command()
@debug_option
def doctor() -> int:
    """Show which tools were found, and what brings a missing one. Exit status is 1 where one is missing."""
    tools, console = all_tools(), Console(highlight=False)
    width = max(len(tool.name) for tool in tools)
    for tool in tools:
        name = f"{tool.name:<{width}}"
        if tool.found:
            console.print(f"{name}  {tool.version}  [dim]{tool.path}[/dim]", soft_wrap=True)
        else:
            console.print(
                f"{name}  [yellow]missing[/yellow]: {tool.hint}  [dim]for {tool.purpose}[/dim]", soft_wrap=True
            )
    return 0 if all(tool.found for tool in tools) else 1


def _show_run(report: dict[str, Any]) -> None:
    table = Table.grid(padding=(0, 2))
    for key in ("simulator", "outputs", "mismatches", "float32_mismatches", "cycles", "model_cycles", "macs"):
        if key in report:
            table.add_row(key.replace("_", " "), str(report[key]))
    if "jobs" in report:
        table.add_row("jobs", str(len(report["jobs"])))
    table.add_row("utilization", f"{report['utilization']:.1%}")
    table.add_row("seconds", str(report["seconds"]))
    Console(highlight=False).print(table)
    for line in (*report["first_mismatches"], *report["violations"]):
        click.echo(f"mismatch: {line}", err=True)


def _show_demo(result: DemoResult) -> None:
    report, console = result.report, Console(highlight=False)
    accuracy = report["accuracy"]
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_row("test images", str(report["images"]))
    table.add_row("accuracy, float", f"{accuracy['float']:.4f}")
    table.add_row("accuracy, int8 golden", f"{accuracy['int8_golden']:.4f}")
    table.add_row("accuracy, RTL", f"{accuracy['rtl']:.4f}")
    for comparison in report["comparisons"]:
        title, operator = comparison["run"], comparison["onnxruntime_operator"]
        outputs = comparison["outputs"]
        table.add_row(f"RTL {title}: differs from golden", f"{comparison['golden_mismatches']} of {outputs}")
        differing = comparison["onnxruntime_mismatches"]
        table.add_row(f"RTL {title}: differs from onnxruntime {operator}", f"{differing} of {outputs}")
    table.add_row("cycles per image", str(report["cycles_per_image"]))
    table.add_row("utilization", f"{report['utilization']:.1%}")
    console.print(table)
    for path in result.files:
        console.print(f"wrote {path}", soft_wrap=True)
    if result.passed:
        console.print("[green]PASS[/green]: RTL = golden = onnxruntime on every output of every test image")
    else:
        console.print(f"[red]FAIL[/red]: every output must agree, and the accuracies must be above {ACCURACY}")


cli.add_command(prove_command)
cli.add_command(explore_command)
cli.add_command(bench)
cli.add_command(layers_command)


@cli.command(name="synth", help=SYNTH_HELP + "\n" + _SOURCE_HELP)
@click.argument("source")
@_options(*SYNTH_OPTIONS, *_HARDWARE, _CELLS, *ENGINE_OPTIONS, *_SOURCE_OPTIONS, debug_option)
def synth(source: str, weights: Path | None, no_bias: bool, name: str | None, **arguments: Any) -> None:
    options = _split(arguments, open_target(arguments["target"]))
    design = open_source(source, options, weights=weights, use_bias=not no_bias, name=name)
    run_synth(design, **arguments)


def main() -> None:
    """Run the command line; the entry point `systoliq`."""
    cli.main(prog_name="systoliq")
