"""The command `systoliq partition`."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from ..package.output import check_output, write_output
from ..progress import Stages
from .options import PATH
from .shell import debug_option
from .shown import shown

__all__ = ["partition"]

_SHOWN = 8  # nodes in the way


@click.command(
    help="""Cut the largest part that hardware can compute out of a quantized ONNX model.

The part is one network: all nodes between two tensors of 8-bit integers, with the most multiply-accumulates. The
directory gets network.onnx, which is a SOURCE for emit, simulate, synth and bitstream; before.onnx and after.onnx, the
rest of the model for onnxruntime, if there is any; whole.onnx, the model itself; and partition.json, which says how
they belong together. `systoliq run DIR` runs all of it, with the network in simulated Verilog.

The nodes in the way are listed with their reasons, those whose removal would win the most multiply-accumulates first.

\b
Examples
  systoliq partition model.onnx --out out/parts
  systoliq run out/parts --input x.npz
"""
)
@click.argument("model", metavar="FILE.onnx", type=PATH)
@click.option(
    "--out", required=True, type=PATH, metavar="DIR", help="Output directory; must be empty or contain a partition."
)
@debug_option
def partition(model: Path, out: Path) -> None:
    """See `help`."""
    from ..partition import Partition, partition_files, partition_of  # with Amaranth, which --help does not need

    check_output(out)
    with Stages().stage(f"partition {model.name}") as detail:
        found: Partition = partition_of(model, detail)
        files = partition_files(found)
    write_output(out, files)
    share = found.multiply_accumulates / found.all_multiply_accumulates
    _echo(
        f"network.onnx: {found.nodes} of {found.all_nodes} nodes, {found.multiply_accumulates:,} of "
        f"{found.all_multiply_accumulates:,} multiply-accumulates ({share:.1%}), from {found.start!r} to {found.end!r}"
    )
    for name, kept in (("before.onnx", found.before), ("after.onnx", found.after)):
        _echo(f"{name}: {'not needed' if kept is None else 'for onnxruntime'}")
    winning = [cause for cause in found.causes if cause.multiply_accumulates > 0]
    for cause in winning[:_SHOWN]:
        _echo(f"in the way: at most {cause.multiply_accumulates:,} more without {cause.reason}")
    others = len(found.causes) - len(winning[:_SHOWN])
    if others:
        _echo(f"{others} other nodes are not in hardware: see partition.json")
    _echo(f"next: systoliq emit {shlex.quote(str(out / 'network.onnx'))} --out DIR")


def _echo(line: str) -> None:
    click.echo(shown(" ".join(line.split())))
