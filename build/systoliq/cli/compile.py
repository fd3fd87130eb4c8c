"""The command `systoliq compile`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from systoliq.hw.dma.list_cycles import ListCycles

from ..design.dma_engine.design import BUS_BITS
from ..errors import InputError
from ..inference import compile_onnx
from ..inference.program.cycles import run_cycles
from ..inference.steps import BETWEEN, HostStep
from ..onnx import Model
from ..package.output import check_output
from ..progress import Stages
from .integer_engine import INTEGER_ENGINE_OPTIONS, integer_engine
from .options import OUT_OPTION, PATH, REPLACE_OPTION, SHAPE_OPTION, PositiveNumber, add_options
from .shell import debug_option, tell_notes, warn_symlink

__all__ = ["compile"]

_NAMES = 6  # of operators in a line
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class _Bytes(click.ParamType[Any]):
    """A count of bytes: decimal or hexadecimal, or with K, M or G of 1024 behind it."""

    name = "bytes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        match = re.fullmatch(r"(0[xX][0-9a-fA-F]+|[0-9]+)([KMG]?)", str(value))
        if match is None:
            self.fail(f"must be a number of bytes such as 65536, 0x10000 or 64M, not {value!r}", param, ctx)
        number, unit = match.groups()
        return int(number, 16 if number[:2] in ("0x", "0X") else 10) * _UNITS[unit]


@click.command(
    help="""Compile a quantized ONNX model for the DMA engine.

Matrix products and convolutions of 8-bit integers become lists of jobs, which the engine executes by itself. All other
nodes run on the host, step by step. systoliq run --bus runs the same lists on the RTL.

\b
Files in the directory
  program.bin          weights as the engine reads them, and the lists with settings and tables
  program.json         memory, steps in order, buffers, jobs with their bytes, steps of the host
  program.txt          the same for readers
  systoliq_program.h   addresses and sizes of all buffers; systoliq_program.c their tables
  systoliq_example.c   a host that runs all steps, with its header and those of the registers
  host_NN.onnx         one model for each step of the host

\b
Examples
  systoliq compile model.onnx --out out/model --rows 16 --cols 16
  systoliq compile model.onnx --out out/model --engine out/engine --memory 64M --base 0x80000000
  systoliq compile model.onnx --out out/model --shape x=1,3,32,32 --only /fc/Gemm
"""
)
@click.argument("model", metavar="FILE.onnx", type=PATH)
@OUT_OPTION
@REPLACE_OPTION
@click.option("--memory", type=_Bytes(), metavar="BYTES", help="Limit of the program's memory.  [as needed]")
@click.option("--base", type=_Bytes(), default=0, metavar="ADDRESS", help="Address of that memory.  [0]")
@click.option(
    "--mhz",
    type=PositiveNumber("F"),
    default=100,
    show_default=True,
    help="Clock of the engine, for the runs a second that are printed.",
)
@click.option("--only", multiple=True, metavar="NODE", help="Run only this product on the engine; may be repeated.")
@add_options(SHAPE_OPTION, *INTEGER_ENGINE_OPTIONS, debug_option)
def compile(  # noqa: A001 - the command's name
    model: Path, out: Path, replace: bool, shapes: tuple[tuple[str, tuple[int, ...]], ...], memory: int | None,
    base: int, mhz: float, only: tuple[str, ...], engine: Path | None, **hardware: Any,
) -> None:  # fmt: skip
    """See `help`."""
    check_output(out)
    warn_symlink(out)
    config, bus = integer_engine(engine, hardware)
    if engine is not None and bus is None:
        raise InputError(
            f"{engine}: must be an engine with masters, which play lists, and has streams only: emit it with --bus N, "
            "or add bus_bits to JSON of your own"
        )
    stages = Stages()
    opened = Model.open(model)
    tell_notes(opened.notes())
    with stages.stage(f"compile {model.name}"):
        compiled = compile_onnx(
            opened, config, bus=bus or BUS_BITS, shapes=dict(shapes), only=only or None, base=base, memory=memory
        )
    compiled.write(out, replace=replace)
    program = compiled.program
    console = Console(highlight=False)
    for file, content in compiled.files.items():
        console.print(f"{out / file}  [dim]{len(content)} bytes[/dim]", soft_wrap=True)
    for name, (operator, reason) in program.host.items():
        console.print(f"host: {operator} {name!r}: {reason}", soft_wrap=True, markup=False)
    if program.between:
        click.echo(_between(program.between))
    totals = program.totals()
    click.echo(
        f"{totals['products']} products in {totals['jobs']} jobs; {program.size:,} bytes of memory, of which "
        f"{len(program.image):,} are weights and lists"
    )
    click.echo(_speed(run_cycles(program), mhz))


def _between(steps: Sequence[HostStep]) -> str:
    """The host's `steps` between lists, by the operators of their nodes."""
    nodes = [node.op_type for step in steps for node in step.nodes]
    names = list(dict.fromkeys(name for name in nodes if name not in BETWEEN)) or list(dict.fromkeys(nodes))
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    count = "1 step" if len(steps) == 1 else f"{len(steps)} steps"
    return f"host: {count} between lists: {', '.join(names[:_NAMES])}{more} (program.txt lists them)"


def _speed(lists: tuple[ListCycles, ...], mhz: float) -> str:
    """The time that the lists take, by the cycle model."""
    count = "1 list" if len(lists) == 1 else f"{len(lists)} lists"
    cycles, least = sum(each.cycles for each in lists), sum(each.least for each in lists)
    return (
        f"{count}: {cycles:,} cycles by the cycle model, with memory that never pauses; array and masters need "
        f"{least:,} of them; {mhz * 1e6 / cycles:,.1f} runs a second at {mhz:g} MHz, without the steps of the host"
    )
