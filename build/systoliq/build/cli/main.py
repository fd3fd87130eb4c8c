"""The command line `systoliq`: its group of commands, each in a file of its own beside this one."""

from __future__ import annotations

import click

from .bench import bench
from .bench_area import bench_area
from .bench_requantizers import bench_requantizers
from .bitstream import bitstream
from .board import board
from .compile import compile  # noqa: A004 - the name of a command
from .demo import demo
from .doctor import doctor
from .emit import emit
from .emit_engine import emit_engine
from .explore import explore
from .layers import layers
from .mutants import mutants
from .prove import prove
from .registers import registers
from .run import run
from .shell import Group, debug_option
from .simulate import simulate
from .soc import soc
from .synth import synth
from .verify import verify

__all__ = ["cli", "main"]


@click.group(
    cls=Group,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    help="""Quantized matrix products as ONNX defines them, in hardware that gives the same bits.

\b
systoliq demo                             the whole way, on handwritten digits
systoliq emit resnet8-fc --out out/fc     Verilog with a testbench that runs anywhere
systoliq simulate out/fc/resnet8_fc_layer.npz --input out/fc/resnet8_fc_vectors.npz
systoliq layers model.onnx                which products of a model can be a SOURCE
systoliq compile model.onnx --out out/m    lists of jobs and weights for the engine that feeds itself
systoliq run model.onnx --input x.npz      a whole model, its products on the engine's RTL
systoliq soc --out out/soc                a RISC-V that drives the engine, with firmware
systoliq verify out/fc                    check its certificate of exactness
systoliq doctor                           which tools are there
""",
)
@click.version_option(package_name="systoliq")
@debug_option
def cli() -> None:
    """Group of the commands."""


for _command in (
    emit, emit_engine, simulate, demo, verify, doctor, prove, explore, bench, bench_area, bench_requantizers,
    bitstream, board, compile, layers, mutants, registers, run, soc, synth,
):  # fmt: skip
    cli.add_command(_command)


def main() -> None:
    """Run the command line; the entry point `systoliq`."""
    cli.main(prog_name="systoliq")
