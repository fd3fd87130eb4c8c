"""The command `systoliq quantize`."""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import InputError
from ..files import check_file, write_file
from ..progress import Stages
from .options import PATH, SHAPE_OPTION, add_options
from .rows import show_rows
from .shell import debug_option, tell_notes
from .shown import shown

__all__ = ["QUANTIZE_OPTIONS", "quantize"]

_CALIBRATIONS = ("minmax", "entropy", "percentile")  # of systoliq.quantize, which --help does not need


QUANTIZE_OPTIONS = (
    click.option(
        "--calibration", type=click.Choice(_CALIBRATIONS), default="minmax", show_default=True,
        help="How the ranges of activations follow from the samples.",
    ),
    click.option(
        "--calibrate-with", type=click.IntRange(min=1), metavar="N",
        help="Calibrate with the first N samples; the accuracy is that of all.  [all]",
    ),
    click.option(
        "--weight-bits", type=click.Choice(["8", "4"]), default="8", show_default=True, metavar="8|4",
        help="Width of weights; 4 makes a model of opset 21 or later.",
    ),
    click.option(
        "--power-of-two", is_flag=True,
        help="Round scales up to powers of two: smaller hardware, and slightly less accurate.",
    ),
)  # fmt: skip
"""Methods to quantize a float model."""


@click.command(
    help="""Quantize a float ONNX model to int8 with onnxruntime's static quantizer, so that hardware takes it whole.

Activations become int8, and weights int8, or int4 with --weight-bits 4, with zero point 0 and one scale for each
output channel. The archive has an array [M, ...] of real numbers for each input of the model, under its name (or
inputs, if there is one). With labels [M], the accuracy of both models is shown. Without --data, random numbers choose
the ranges: the result shows which hardware a model needs, but its outputs mean nothing.

Then the command checks that the result is one network, or one layer, in hardware. If it is not, each line that begins
with "no hardware" names a node of the float model and the reason, and the exit status is 1. The quantized model is
written in both cases. Needs: pip install 'systoliq[demo]'.

\b
Examples
  systoliq quantize float.onnx --data calibration.npz --out model_int8.onnx
  systoliq quantize float.onnx --data calibration.npz --out model_int8.onnx --calibration entropy
  systoliq quantize float.onnx --out first_try.onnx
"""
)
@click.argument("model", metavar="FILE.onnx", type=PATH)
@click.option("--data", type=PATH, metavar="C.npz", help="Archive of samples.  [random numbers]")
@click.option("--out", required=True, type=PATH, metavar="INT8.onnx", help="File for the quantized model.")
@add_options(*QUANTIZE_OPTIONS, SHAPE_OPTION, debug_option)
def quantize(
    model: Path, data: Path | None, out: Path, calibration: str, calibrate_with: int | None, weight_bits: str,
    power_of_two: bool, shapes: tuple[tuple[str, tuple[int, ...]], ...],
) -> int:  # fmt: skip
    """See `help`."""
    from ..quantize.calibration import samples_for
    from ..quantize.float_model import open_float_model
    from ..quantize.quantizer import quantize_model

    if out.suffix != ".onnx":
        raise InputError(f"out must be a file .onnx, not {str(out)!r}")
    if out.exists() and model.exists() and out.samefile(model):
        raise InputError(f"out must be another file than the float model {model}")
    check_file("out", out)
    opened = open_float_model(model, dict(shapes))
    samples = samples_for(opened, data)
    with Stages().stage(f"quantize {model}") as detail:
        made = quantize_model(
            opened, samples, calibration=calibration, weight_bits=int(weight_bits), power_of_two=power_of_two,
            calibration_samples=calibrate_with, name=out.stem, progress=detail,
        )  # fmt: skip
    write_file(out, made.content)
    rows = [("wrote", f"{out}, {len(made.content)} bytes"), ("calibration", made.calibration)]
    rows += made.accuracy.lines() if made.accuracy is not None else []
    show_rows([*rows, ("hardware", made.hardware.whole or "does not take it whole")])
    if made.random:
        tell_notes(["calibrated with random numbers: the outputs of this model mean nothing; give --data"])
    for reason in made.hardware.reasons:
        click.echo(shown(f"no hardware: {reason}"), err=True)
    return 0 if made.hardware.whole else 1
