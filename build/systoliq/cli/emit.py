"""The command `systoliq emit`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.console import Console

from ..package.output import check_output
from ..progress import Stages
from ..synth.targets import open_target
from .options import (
    BUS_OPTION,
    CELLS_OPTION,
    ENGINE_OPTIONS,
    HARDWARE_OPTIONS,
    NETWORK_OPTIONS,
    OUT_OPTION,
    REPLACE_OPTION,
    SOURCE_HELP,
    SOURCE_OPTIONS,
    TARGET_OPTION,
    add_options,
    hardware_of,
)  # fmt: skip
from .plan_table import show_plan
from .shell import debug_option, tell_notes, warn_symlink

__all__ = ["emit"]


@click.command(
    help=f"""Write a package: SOURCE as Verilog, with the files to use and check it.

{SOURCE_HELP}

\b
Files in the directory
  NAME.v            Verilog-2005; AXI4-Stream ports, clock clk, synchronous reset rst
  NAME_tb.v         a self-checking testbench with golden vectors, stalls and resets
  NAME.json         ports, packing, latency, cycle model, quantization, versions
  NAME.vlt          Verilator lint waivers, each with its reason
  certificate.json  the claims about exactness, which systoliq verify DIR checks
  NAME_models.v     with cells of a family: their models, for simulation only
  NAME_vectors.npz  the golden vectors; NAME_layer.npz the layer, NAME_network.npz the network
  NAME.core, Makefile, NAME.sdc, NAME.xdc, NAME_vivado.tcl, NAME.xml, NAME_litex.py, NAME_constants.h,
  NAME_constants.py for other tools: docs/forms.md
An engine also has its register map: registers.md, systoliq_engine.h and NAME.rdl;
docs/engine.md describes how software drives it

\b
Examples
  systoliq emit resnet8-fc --out out/fc
  iverilog -g2005 -o t out/fc/*.v && vvp t
  systoliq emit layer.npz --out out/layer --rows 4 --cols 8 --depth 4 --cells ecp5
  systoliq emit digits-cnn --out out/digits --target ice40-up5k
  systoliq emit array --out out/array --rows 16 --cols 16 --a-unsigned --accumulator-bits 24
  systoliq emit engine --out out/engine --target ecp5-85k --bus 64 --vector
  systoliq emit engine --out out/engine --rows 16 --cols 16 --dataflow auto --workload products.csv
"""
)
@click.argument("source")
@OUT_OPTION
@REPLACE_OPTION
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
def emit(
    source: str, out: Path, replace: bool, target: str | None, weights: Path | None, no_bias: bool, name: str | None,
    **hardware: Any,
) -> None:  # fmt: skip
    """See `help`."""
    from ..design import open_source
    from ..package import make_package

    check_output(out)
    warn_symlink(out)
    part = open_target(target) if target else None
    asked = hardware_of(hardware, part)
    stages = Stages()
    with stages.stage(f"design {source}"):
        design = open_source(source, asked, weights=weights, use_bias=not no_bias, name=name)
    show_plan(design, part)
    with stages.stage("write Verilog, testbench and sidecar"):
        package = make_package(design)
        package.write(out, replace=replace)
    console = Console(highlight=False)
    for file, content in package.files.items():
        console.print(f"{out / file}  [dim]{len(content)} bytes[/dim]", soft_wrap=True)
    tell_notes(() if design.stages else package.notes)
