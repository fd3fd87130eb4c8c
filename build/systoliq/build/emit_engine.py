"""`systoliq emit-engine`: the engine as Verilog, with its registers as documentation and C header, and a sidecar."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from amaranth.hdl import Shape
from amaranth.lib import wiring
from rich.console import Console

from systoliq.hw import emit_verilog
from systoliq.hw.engine import AxiEngine, EngineConfig
from systoliq.hw.engine.config import DATAFLOWS

from .bench_engine import OWN, choose_dataflow, read_workloads
from .output import check_output, write_output
from .registers import c_header, markdown
from .shell import debug_option
from .sidecar import FORMAT, GENERATOR, versions
from .sources import module_name
from .waivers import verilator_waivers

__all__ = ["emit_engine", "engine_files"]

_Command = TypeVar("_Command", bound=Callable[..., Any])

_HELP = {
    "rows": "Rows of the array.",
    "cols": "Columns of the array.",
    "depth": "Pairs that an element multiplies in a cycle.",
    "lanes": "Results a beat of Y; divides the columns.",
    "a_words": "Words of A's buffer: at least ceil(K / depth).",
    "b_words": "Words of B's buffer: at least ceil(K / depth) * ceil(N / cols).",
    "max_columns": "N of a job at the most.",
    "max_rows": "M of a job with a zero point per row at the most.",
}


def engine_files(config: EngineConfig, name: str) -> dict[str, bytes]:
    """Contents by file name: Verilog with top module `name`, lint waivers, registers for readers and for C, sidecar."""
    top = AxiEngine(config)
    described = {
        f"{name}.v": (f"Verilog-2005, top module {name}", emit_verilog(top, name)),
        f"{name}.vlt": ("lint waivers for Verilator, each with its reason", verilator_waivers(f"{name}.v")),
        "registers.md": ("the register map", markdown()),
        "systoliq_engine.h": ("the register map for C and C++", c_header()),
    }
    sidecar = {
        "generator": GENERATOR,
        "format": FORMAT,
        "name": name,
        "top": name,
        "kind": "engine",
        "clocking": {"clock": "clk", "edge": "rising", "reset": "rst", "reset_kind": "synchronous, active high"},
        "ports": _ports(top),
        "engine": dataclasses.asdict(config),
        "files": {file: text for file, (text, _) in described.items()},
        "versions": versions(),
    }
    files = {file: content.encode() for file, (_, content) in described.items()}
    return files | {f"{name}.json": (json.dumps(sidecar, indent=2) + "\n").encode()}


def _ports(top: AxiEngine) -> list[dict[str, Any]]:
    ports = [{"name": port, "direction": "input", "width": 1} for port in ("clk", "rst")]
    for name, member in top.signature.members.items():
        direction = "input" if member.flow == wiring.In else "output"
        ports.append({"name": name, "direction": direction, "width": Shape.cast(member.shape).width})
    return ports


def _fields(command: _Command) -> _Command:
    for field in reversed(dataclasses.fields(EngineConfig)):
        if text := _HELP.get(field.name):
            option = f"--{field.name.replace('_', '-')}"
            command = click.option(option, field.name, type=int, default=field.default, show_default=True, help=text)(
                command
            )
    return command


@click.command(
    name="emit-engine",
    help="""Write the programmable matmul engine as Verilog into a directory.

\b
The directory gets
  NAME.v             Verilog-2005; AXI4-Lite control, AXI4-Stream A, B and Y, clock clk, synchronous reset rst
  NAME.vlt           Verilator lint waivers, each with its reason
  NAME.json          ports, configuration, versions
  registers.md       the register map
  systoliq_engine.h  the same for C and C++

docs/engine.md says how software drives it, docs/engine_driver.c is a driver in C.
""",
)
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Directory: new, empty or written by systoliq.",
)
@click.option("--name", default="engine", show_default=True, metavar="NAME", help="Name of the Verilog module.")
@_fields
@click.option(
    "--dataflow",
    type=click.Choice([*DATAFLOWS, "auto"]),
    default=DATAFLOWS[0],
    show_default=True,
    help="What stays in the array; auto: whichever takes fewer cycles for --workload, by the cycle model.",
)
@click.option(
    "--workload",
    type=click.Path(path_type=Path),
    metavar="FILE.csv",
    help="For auto: products as columns workload, M, K, N, count.  [ResNet8, BERT-base, ViT-Tiny]",
)
@debug_option
def emit_engine(out: Path, name: str, dataflow: str, workload: Path | None, **sizes: Any) -> None:
    """Write and show; the command `systoliq emit-engine`."""
    check_output(out)
    config = EngineConfig(**sizes)
    if dataflow == "auto":
        config = choose_dataflow(config, OWN if workload is None else read_workloads(workload))
        click.echo(f"dataflow: {config.dataflow}")
    elif workload is not None:
        raise click.UsageError("--workload goes with --dataflow auto")
    else:
        config = config.replace(dataflow=dataflow)
    files = engine_files(config, module_name(name, "engine"))
    write_output(out, files)
    console = Console(highlight=False)
    for file, content in files.items():
        console.print(f"{out / file}  [dim]{len(content)} bytes[/dim]", soft_wrap=True)
