"""The subject: the layer that is explored, with the data that shows how well it does at other widths."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.archive import read_arrays
from systoliq.golden.formats import IntFormat
from systoliq.golden.layer import MatMulLayer

from ..design.sources import open_layer
from ..errors import InputError
from ..onnx import is_model
from ..onnx.following import following_layers
from .requantize_layer import narrowed, quantize_inputs, quantized

__all__ = ["FloatModel", "Subject", "open_subject"]

_RANDOM_ROWS = 256  # of inputs, where the user gave none: for cycles and cosimulation, not for accuracy
_INPUTS = ("inputs", "a")
_REFERENCES = ("outputs", "y")


@dataclass(frozen=True, kw_only=True, eq=False)
class FloatModel:
    """What was trained: weights [K, N], bias [N], and the range of the inputs."""

    weights: npt.NDArray[np.float64]
    bias: npt.NDArray[np.float64]
    a_range: tuple[float, float]


@dataclass(frozen=True, kw_only=True, eq=False)
class Subject:
    """A layer as it was given, real inputs [M, K], and labels [M] or real reference outputs [M, N] if there are any.

    `source` (with the file `weights`) is what the command line calls it. With `trained`, every width is quantized from
    the float model; without, narrower widths are re-quantized from the layer.
    """

    source: str
    origin: str
    layer: MatMulLayer
    inputs: npt.NDArray[np.float32]
    labels: npt.NDArray[np.int64] | None = None
    reference: npt.NDArray[np.float64] | None = None
    trained: FloatModel | None = None
    float_accuracy: float | None = None
    weights: Path | None = None

    @property
    def scored(self) -> bool:
        """Whether there is an accuracy."""
        return self.labels is not None or self.reference is not None

    def own_widths(self, a_bits: int, b_bits: int) -> bool:
        """Whether these are the widths that the layer came with."""
        return (a_bits, b_bits) == (self.layer.a_format.bits, self.layer.b_format.bits)

    def at(self, a_bits: int, b_bits: int) -> MatMulLayer:
        """The layer at these widths; a ValueError where that cannot be."""
        formats = IntFormat(a_bits, self.layer.a_format.signed), IntFormat(b_bits, self.layer.b_format.signed)
        if self.trained is None or self.own_widths(a_bits, b_bits):
            return narrowed(self.layer, a_bits, b_bits)
        return quantized(self.layer, self.trained.weights, self.trained.bias, self.trained.a_range, *formats)

    def operands(self, layer: MatMulLayer, rows: int | None = None) -> npt.NDArray[Any]:
        """The inputs in the format of `layer`; `rows` of them, from the start again where there are fewer."""
        chosen = self.inputs if rows is None else self.inputs[np.arange(rows) % len(self.inputs)]
        return quantize_inputs(chosen.astype(np.float64), layer)

    def score(self, layer: MatMulLayer, y: npt.NDArray[Any]) -> dict[str, float | None]:
        """How good the outputs `y` [M, N] are.

        `accuracy` is the share of rows whose greatest output is the label's, or the reference's; `rms_error` is in real
        units, against the reference.
        """
        if self.reference is not None:
            real = (y.astype(np.float64) - layer.y_zero_point) * float(layer.y_scale)
            agree = float(np.mean(y.argmax(axis=1) == self.reference.argmax(axis=1)))
            return {"accuracy": agree, "rms_error": float(np.sqrt(np.mean(np.square(real - self.reference))))}
        accuracy = None if self.labels is None else float(np.mean(y.argmax(axis=1) == self.labels))
        return {"accuracy": accuracy, "rms_error": None}


def open_subject(source: str, *, data: Path | None = None, weights: Path | None = None) -> Subject:
    """The subject that SOURCE names on the command line, with the data of the archive `data`."""
    if source == "array":
        raise InputError("SOURCE must be a layer, not the bare array: it has no outputs to be accurate about")
    layer, origin = open_layer(source, weights)
    if layer.has_float8:
        formats = f"{layer.a_format} x {layer.b_format} -> {layer.y_format}"
        raise InputError(f"SOURCE must be a layer of integers, not of {formats}: explore tries other widths")
    if layer.gives_sums:
        raise InputError("SOURCE must be a layer with y_scale, not of int32 sums: explore compares rounded results")
    for name in ("a_scale", "b_scale", "y_scale"):
        scale = np.ravel(getattr(layer, name))
        if (wrong := scale[~(np.isfinite(scale) & (scale > 0))]).size:
            raise InputError(f"{name} must be positive and finite to explore a layer, not {float(wrong[0])!r}")
    if data is not None:
        return Subject(source=source, origin=origin, layer=layer, weights=weights, **_read_data(data, layer, source))
    if source == "digits":
        return _digits(layer, origin)
    generator = np.random.default_rng(0)
    a = generator.integers(layer.a_format.min, layer.a_format.max, (_RANDOM_ROWS, layer.k), endpoint=True)
    inputs = ((a - layer.a_zero_point) * np.float64(layer.a_scale)).astype(np.float32)
    return Subject(source=source, origin=origin, layer=layer, inputs=inputs, weights=weights)


def _digits(layer: MatMulLayer, origin: str) -> Subject:
    from ..design.digits import train_digits  # needs scikit-learn, which only this source asks for

    digits = train_digits()
    return Subject(
        source="digits",
        origin=origin,
        layer=layer,
        inputs=digits.images.reshape(len(digits.images), -1).astype(np.float32),
        labels=digits.labels.astype(np.int64),
        trained=FloatModel(weights=digits.weights, bias=digits.bias, a_range=(0.0, 16.0)),
        float_accuracy=digits.float_accuracy,
    )


def _read_data(path: Path, layer: MatMulLayer, source: str) -> dict[str, Any]:
    arrays = read_arrays(path)
    inputs = next((arrays[name] for name in _INPUTS if name in arrays), None)
    reference = next((arrays[name] for name in _REFERENCES if name in arrays), None)
    labels = arrays.get("labels")
    if inputs is None:
        raise InputError(f"{path}: must have the key 'inputs' (or 'a'); it has {', '.join(arrays) or 'none'}")
    if (labels is None) == (reference is None):
        raise InputError(f"{path}: must have 'labels' or reference 'outputs' (or 'y'), one of them")
    if labels is not None and is_model(source) and (following := following_layers(source)):
        raise InputError(
            f"{path}: labels must be given for the last layer or a whole network, not for {source!r}, whose outputs go "
            f"into {following[0]!r}: give its outputs, or explore the network with --bits"
        )
    if inputs.ndim != 2 or inputs.shape[1] != layer.k or not len(inputs):
        raise InputError(f"{path}: inputs must have the shape [M, {layer.k}], not {list(inputs.shape)}")
    if inputs.dtype.kind == "f":
        real = inputs.astype(np.float64)
    else:
        real = (layer.check_input(inputs).astype(np.float64) - layer.a_zero_point) * float(layer.a_scale)
    if not np.all(np.isfinite(real)):
        raise InputError(f"{path}: inputs must be finite")
    m = len(inputs)
    if labels is not None:
        if labels.shape != (m,) or labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= layer.n:
            raise InputError(
                f"{path}: labels must be integers 0 to {layer.n - 1} of shape [{m}], "
                f"not {labels.dtype} of shape {list(labels.shape)}"
            )
        return {"inputs": real.astype(np.float32), "labels": labels.astype(np.int64)}
    assert reference is not None  # noqa: S101 - one of the two is there
    if reference.shape != (m, layer.n):
        raise InputError(f"{path}: outputs must have the shape [{m}, {layer.n}], not {list(reference.shape)}")
    outputs = reference.astype(np.float64)
    if reference.dtype.kind in "iu":
        outputs = (outputs - layer.y_zero_point) * float(layer.y_scale)
    return {"inputs": real.astype(np.float32), "reference": outputs}
