"""`systoliq demo --formats`: the digits' classifier in float8, its Verilog compared with golden on every output."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.float8 import Float8Format
from systoliq.golden.layer import MatMulLayer
from systoliq.sim.choice import SimulatorChoice

from ..design import LayerDesign, LayerOptions
from ..design.digits import Digits, train_digits
from ..errors import InputError
from ..files import json_bytes, write_file
from ..package import write_package
from ..progress import Stages

__all__ = ["float8_digits", "parse_formats", "run_float8_demo"]

_LARGEST_PIXEL = 16.0


def parse_formats(text: str) -> list[Float8Format]:
    """The formats in a list such as "e4m3fn,e5m2"."""
    try:
        return [Float8Format.parse(name.strip()) for name in text.split(",")]
    except ValueError as error:
        raise InputError(f"formats: {error}") from None


def float8_digits(digits: Digits, form: Float8Format) -> tuple[MatMulLayer, npt.NDArray[np.float64]]:
    """The classifier with a, b and y in `form`, 65 -> 10, and the real inputs of the test images [M, 65].

    A float8 layer has no bias: it is one more weight, whose pixel is always 1. Greatest values become the format's.
    """
    x = np.hstack([digits.images.reshape(len(digits.images), -1), np.ones((len(digits.images), 1))])
    weights = np.vstack([digits.weights, digits.bias])
    greatest = form.max_units * 2.0**form.unit
    b_scale = (np.abs(weights).max(axis=0) / greatest).astype(np.float32)
    layer = MatMulLayer(
        name=f"digits_{form.name.removeprefix('float8_')}",
        b=form.encode(weights / b_scale),
        a_scale=np.float32(_LARGEST_PIXEL / greatest),
        a_zero_point=0,
        b_scale=b_scale,
        b_zero_point=0,
        y_scale=np.float32(np.abs(x @ weights).max() / greatest),
        y_zero_point=0,
        a_format=form,
        b_format=form,
        y_format=form,
    )
    return layer, x


def run_float8_demo(
    out: Path, formats: list[Float8Format], hardware: LayerOptions, simulator: SimulatorChoice, stages: Stages
) -> list[dict[str, Any]]:
    """For each format: quantize, emit, run all test images through the Verilog and compare every output."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: must be a directory, but it is a file")
    with stages.stage("train a linear classifier on scikit-learn's digits"):
        digits = train_digits()
    reports = []
    for form in formats:
        layer, x = float8_digits(digits, form)
        design = LayerDesign(layer, hardware, origin=f"the preset digits in {form}")
        with stages.stage(f"write its Verilog package in {form}"):
            write_package(design, out / design.name)
        with stages.stage(f"run all {len(x)} test images through the hardware in {form}") as detail:
            a = layer.quantize(x)
            run = design.simulate(a, simulator=simulator, progress=detail)
        golden = layer.golden(a)
        differing = int(np.count_nonzero(run.y.view(np.uint8) != golden.view(np.uint8)))
        reports.append(
            {
                "format": form.name,
                "images": len(x),
                "accuracy": {
                    "float": digits.float_accuracy,
                    "golden": digits.accuracy(_real(form, golden)),
                    "rtl": digits.accuracy(_real(form, run.y)),
                },
                "outputs": int(golden.size),
                "golden_mismatches": differing,
                "passed": run.passed and not differing,
                "runs": run.report,
            }
        )
    write_file(out / "float8.json", json_bytes(reports))
    return reports


def _real(form: Float8Format, y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Codes as numbers, in units of the least value: enough for the greatest of them."""
    decoded = form.decode(y)
    return np.ldexp(decoded.significand.astype(np.float64), decoded.shift)
