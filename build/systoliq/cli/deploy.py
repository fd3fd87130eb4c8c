"""The command `systoliq deploy`."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from ..errors import InputError
from ..package.output import check_output, write_output
from ..progress import Stages
from .options import PATH
from .run_partition import show_comparison
from .shell import debug_option, warn_symlink
from .shown import shown

__all__ = ["deploy"]


@click.command(
    help="""Write a quantized ONNX model whose network is one custom operator: the hardware.

DIR/model_hw.onnx has the host's part of FILE.onnx as it is, and one operator in place of the network, the largest part
that hardware takes (see systoliq partition). onnxruntime runs it where it ran FILE.onnx, if two lines of the program
change:

\b
  from systoliq.deploy import register_hardware
  session = onnxruntime.InferenceSession("DIR/model_hw.onnx", register_hardware())

The operator runs in simulated Verilog, or on a board over its serial line. Each result is compared with golden. Running
the model needs: pip install 'systoliq[deploy]'.

FILE.onnx may also be a directory of systoliq partition. The hardware has the default options, or the options of
--package. A board must hold the bitstream of that package, as systoliq build makes it.

\b
Examples
  systoliq deploy model_int8.onnx --out out/deployed
  systoliq deploy model_int8.onnx --out out/deployed --on golden --input x.npz
  systoliq deploy model_int8.onnx --package out/board --on /dev/ttyUSB0 --out out/deployed
"""
)
@click.argument("model", metavar="FILE.onnx", type=PATH)
@click.option(
    "--out", required=True, type=PATH, metavar="DIR", help="Output directory; must be empty or from this command."
)
@click.option(
    "--package", type=PATH, metavar="DIR",
    help="Hardware of the network: a package of systoliq emit, or a directory of systoliq build.  [default options]",
)  # fmt: skip
@click.option(
    "--on", default="verilator", show_default=True, metavar="WHERE",
    help="Where the operator runs: verilator, icarus, auto, golden, or a board's serial port.",
)  # fmt: skip
@click.option("--baud", type=int, default=115200, show_default=True, metavar="N", help="Bits per second of the port.")
@click.option(
    "--input", "input_", type=PATH, metavar="X.npz",
    help="Run model_hw.onnx on these inputs and compare its outputs with the outputs of FILE.onnx.",
)  # fmt: skip
@debug_option
def deploy(model: Path, out: Path, package: Path | None, on: str, baud: int, input_: Path | None) -> int:
    """See `help`."""
    from ..deploy.compare import compare_models  # with Amaranth, which --help does not need
    from ..deploy.hardware import check_on
    from ..deploy.model_hw import MODEL_HW, deployed_files
    from ..deploy.session import open_design, open_parts

    check_on(on, baud)
    check_output(out)
    warn_symlink(out)
    if not model.exists():
        raise InputError(f"{model}: there is no such file")
    with Stages().stage(f"deploy {model.name}") as detail:
        partition = open_parts(model, detail)
        design = open_design(partition, None, package)
        files = deployed_files(partition, design, on, baud)
        found = None if input_ is None else compare_models(partition, files[MODEL_HW], input_)
    write_output(out, files)
    share = partition.multiply_accumulates / partition.all_multiply_accumulates
    click.echo(
        shown(
            f"{MODEL_HW}: {partition.nodes} of {partition.all_nodes} nodes are the operator, {share:.1%} of the "
            f"multiply-accumulates, from {partition.start!r} to {partition.end!r}"
        )
    )
    if found is not None and not show_comparison(found):
        return 1
    path = shlex.quote(str(out / MODEL_HW))
    click.echo(f'next: onnxruntime.InferenceSession("{path}", systoliq.deploy.register_hardware())')
    return 0
