"""Stages of a network, derived again: the expected claims of the certificate about each, by its operator.

claims, arrays of NAME_stages.npz, Verilog  ->  Found
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from fractions import Fraction

from .boundary import counted
from .depthwise import Depthwise
from .elementwise import addition, concatenation, constant, maximum, multiplication, real_pair, table
from .float32 import combined_scale, float32
from .float32_average import uncertain_average
from .hardware import Hardware
from .integer_layer import IntegerLayer, format_of
from .layer_normalization import layer_normalization
from .one_layer import dense_shape
from .package import Layer, layer_of, limited
from .reorder import move
from .softmax import softmax
from .stage import Found, Stage, signed
from .two_operands import matrix_product

__all__ = ["OPERATORS"]

_MOST_TRIED = 300_000  # accumulators of a stage, beside those at the steps: there may be many stages


def _product(stage: Stage) -> Found:
    """A convolution or a dense layer: with a sum for each channel alone where it has lanes and no columns."""
    layer = layer_of(dict(stage.arrays), stage.source)
    return _layer(stage, layer)


def _whole_average(stage: Stage) -> Found:
    """The average of all pixels: a product with weights of one, whose scale is f(x_scale / f(y_scale * pixels))."""
    return _average(stage, stage.claimed["shape"]["k"])


def _windowed_average(stage: Stage) -> Found:
    """The same product for a window of some pixels, if no sum is one that float32 additions may round elsewhere; else
    the stage adds in float32, which is tested.
    """
    arrays, formats = stage.arrays, stage.claimed["formats"]
    pixels = int(arrays["pixels"])
    ends = {
        letter: format_of(letter, formats[letter], signed=signed(arrays[f"{letter}_zero_point"]), source=stage.source)
        for letter in "ay"
    }
    scales = {letter: float(arrays[f"{letter}_scale"]) for letter in "ay"}
    points = {letter: int(arrays[f"{letter}_zero_point"]) for letter in "ay"}
    total = uncertain_average(pixels, ends["a"], scales["a"], points["a"], ends["y"], scales["y"], points["y"])
    if total is None:
        return _average(stage, pixels)
    if stage.claimed["verdict"] == "tested":
        return Found(facts={"verdict": "tested", "formats": formats}, tried="", tested=True)
    text = f"{stage.source}: float32 additions may round the sum {total} of {pixels} pixels to another integer"
    found = _average(stage, pixels)
    return dataclasses.replace(found, reasons=[*found.reasons, text])


def _average(stage: Stage, pixels: int) -> Found:
    k, n = stage.claimed["shape"]["k"], stage.claimed["shape"]["n"]
    arrays = stage.arrays
    total = float(float32(Fraction(float(arrays["y_scale"])) * pixels))
    layer = Layer(
        b=[[1] * n for _ in range(k)],
        b_zero_point=[0] * n,
        bias=[0] * n,
        a_zero_point=int(arrays["a_zero_point"]),
        y_zero_point=int(arrays["y_zero_point"]),
        scales=[combined_scale(float(arrays["a_scale"]), 1.0, total)] * n,
        signed={"b": True} | {letter: signed(arrays[f"{letter}_zero_point"]) for letter in "ay"},
    )
    return _layer(stage, layer)


def _layer(stage: Stage, layer: Layer) -> Found:
    claimed, k, n = stage.claimed, len(layer.b), len(layer.b[0])
    y_signed = layer.signed["y"]
    hardware: Hardware | Depthwise
    if "lanes" in claimed["array"]:
        b_signed = not claimed["formats"]["weights"].startswith("u")
        hardware = Depthwise(stage.modules, stage.module, k=k, n=n, b_signed=b_signed, y_signed=y_signed)
    else:
        shape = dense_shape(claimed, k=k, n=n, y_signed=y_signed)
        hardware = Hardware(stage.modules, stage.module, shape)
    derived = IntegerLayer(claimed, layer, hardware, verilog=stage.verilog, source=stage.source, most_tried=_MOST_TRIED)
    facts = derived.derive(stage.progress)
    reasons = [*derived.reasons, *limited(iter(derived.inexact))]
    reasons += [] if reasons else derived.try_all(stage.progress)
    steps = sum(column["steps"] for column in facts["columns"])
    return Found(
        facts=facts,
        tried=f"{counted(n, 'column')}, {counted(steps, 'step')}, {counted(derived.points, 'accumulator')} tried",
        reasons=reasons,
        points=derived.points,
        complete=derived.complete,
        is_layer=True,
    )


OPERATORS: Mapping[str, Callable[[Stage], Found]] = {
    "Convolution": _product,
    "Dense": _product,
    "WholeAverage": _whole_average,
    "WindowedAverage": _windowed_average,
    "Addition": addition,
    "Table": table,
    "MaxPool": maximum,
    "Constant": constant,
    "Multiplication": multiplication,
    "RealPair": real_pair,
    "Concatenation": concatenation,
    "Move": move,
    "MatrixProduct": matrix_product,
    "Softmax": softmax,
    "LayerNormalization": layer_normalization,
}
"""Functions that derive the claims of a stage, by the operator's name in the certificate.

No claim of another operator can be derived: its stages are tested, and a certificate that says more is refused.
"""
