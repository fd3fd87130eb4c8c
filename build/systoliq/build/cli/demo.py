"""The command `systoliq demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from systoliq.sim.runner import SimulatorName

from ..demo.demo import ACCURACY, DemoResult, run_demo
from ..progress import Stages
from .options import HARDWARE_OPTIONS, PATH, SIMULATOR_OPTION, add_options, hardware_of
from .shell import debug_option

__all__ = ["demo"]


@click.command(
    help="""The main job on real input: train a linear classifier on scikit-learn's digits, quantize it, emit its
Verilog, run all test images through it, and compare every output with golden and with onnxruntime.

\b
Examples
  systoliq demo
  systoliq demo --simulator icarus --rows 2 --depth 4
"""
)
@click.option("--out", type=PATH, default=Path("out/demo"), show_default=True, metavar="DIR", help="Directory.")
@SIMULATOR_OPTION
@add_options(*HARDWARE_OPTIONS, debug_option)
def demo(out: Path, simulator: SimulatorName, **hardware: Any) -> int:
    """See `help`."""
    result = run_demo(out, hardware_of(hardware), simulator, Stages())
    _show_demo(result)
    return 0 if result.passed else 1


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
