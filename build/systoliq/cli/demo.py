"""The command `systoliq demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from systoliq.sim.choice import SimulatorChoice

from ..demo.demo import ACCURACY, DemoResult, run_demo
from ..demo.float8 import parse_formats, run_float8_demo
from ..design import LayerOptions
from ..progress import Stages
from .options import HARDWARE_OPTIONS, PATH, SIMULATOR_OPTION, add_options, hardware_of
from .shell import debug_option

__all__ = ["demo"]


@click.command(
    help="""Train a linear classifier on scikit-learn's digits, quantize it, emit its Verilog, simulate all test
images, and compare every output with golden and onnxruntime. Then do the same with a convolutional network
(digits-cnn), and compare the results of every stage.

\b
Examples
  systoliq demo
  systoliq demo --simulator icarus --rows 2 --depth 4
  systoliq demo --formats e4m3fn,e5m2
"""
)
@click.option("--out", type=PATH, default=Path("out/demo"), show_default=True, metavar="DIR", help="Directory.")
@click.option(
    "--formats",
    metavar="F,F",
    help="Use these float8 formats, each for a, b and y: e4m3fn, e4m3fnuz, e5m2, e5m2fnuz; without onnxruntime.",
)
@SIMULATOR_OPTION
@add_options(*HARDWARE_OPTIONS, debug_option)
def demo(out: Path, formats: str | None, simulator: SimulatorChoice, **hardware: Any) -> int:
    """See `help`."""
    options = LayerOptions.of(hardware_of(hardware), "'digits'")
    if formats is not None:
        reports = run_float8_demo(out, parse_formats(formats), options, simulator, Stages())
        _show_float8(out, reports)
        return 0 if all(report["passed"] for report in reports) else 1
    result = run_demo(out, options, simulator, Stages())
    _show_demo(result)
    return 0 if result.passed else 1


def _show_float8(out: Path, reports: list[dict[str, Any]]) -> None:
    console = Console(highlight=False)
    table = Table("format", "accuracy, float", "golden", "RTL", "RTL differs from golden", box=None, pad_edge=False)
    for report in reports:
        accuracies = (f"{value:.4f}" for value in report["accuracy"].values())
        table.add_row(report["format"], *accuracies, f"{report['golden_mismatches']} of {report['outputs']}")
    console.print(table)
    console.print(f"wrote {out}", soft_wrap=True)
    if all(report["passed"] for report in reports):
        console.print("[green]PASS[/green]: RTL = golden on every output of every test image")
    else:
        console.print("[red]FAIL[/red]: every output must agree")


def _add_network(table: Table, report: dict[str, Any]) -> None:
    accuracy = report["accuracy"]
    table.add_row("network, accuracy, float", f"{accuracy['float']:.4f}")
    table.add_row("network, accuracy, int8 onnxruntime", f"{accuracy['int8_onnxruntime']:.4f}")
    table.add_row("network, accuracy, RTL", f"{accuracy['rtl']:.4f}")
    table.add_row(
        "network, RTL of every stage: differs from golden", f"{report['golden_mismatches']} of {report['outputs']}"
    )
    table.add_row(
        "network, RTL's scores: differ from onnxruntime", f"{report['onnxruntime_mismatches']} of {report['scores']}"
    )
    table.add_row("network, cycles per image", str(report["image_cycles"]))
    table.add_row("network, utilization", f"{report['utilization']:.1%}")


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
    _add_network(table, report["network"])
    console.print(table)
    for path in result.files:
        console.print(f"wrote {path}", soft_wrap=True)
    if result.passed:
        console.print("[green]PASS[/green]: RTL = golden = onnxruntime on every output of every test image")
    else:
        console.print(f"[red]FAIL[/red]: every output must agree, and the accuracies must be above {ACCURACY}")
