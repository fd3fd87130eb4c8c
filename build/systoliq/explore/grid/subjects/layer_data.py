"""Layers and data of the user's as subjects: what SOURCE and the archive of --data hold, checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from systoliq.golden.archive import read_arrays
from systoliq.golden.layer import MatMulLayer

from ....design.sources import following_layers, open_layer
from ....errors import InputError
from .layer import FloatModel, LayerSubject

__all__ = ["layer_subject", "open_layer_subject"]

_RANDOM_ROWS = 256  # of inputs, where the user gave none: for cycles and cosimulation, not for accuracy
_INPUTS = ("inputs", "a")
_REFERENCES = ("outputs", "y")


def open_layer_subject(source: str, *, data: Path | None = None, weights: Path | None = None) -> LayerSubject:
    """The layer that SOURCE names on the command line, with the data of the archive `data`."""
    if source == "array":
        raise InputError("SOURCE must be a layer, not the bare array: it has no outputs to be accurate about")
    layer, origin = open_layer(source, weights)
    if source == "digits" and data is None:
        return _digits(layer, origin)
    return layer_subject(layer, source=source, origin=origin, data=data, weights=weights)


def layer_subject(
    layer: MatMulLayer, *, source: str = "", origin: str, data: Path | None = None, weights: Path | None = None
) -> LayerSubject:
    """A layer with the data of the archive `data`; without, with random rows. One without `source` is no file yet."""
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
        given = _read_data(data, layer, source)
        return LayerSubject(source=source, origin=origin, layer=layer, weights=weights, **given)
    generator = np.random.default_rng(0)
    a = generator.integers(layer.a_format.min, layer.a_format.max, (_RANDOM_ROWS, layer.k), endpoint=True)
    inputs = ((a - layer.a_zero_point) * np.float64(layer.a_scale)).astype(np.float32)
    return LayerSubject(source=source, origin=origin, layer=layer, inputs=inputs, weights=weights)


def _digits(layer: MatMulLayer, origin: str) -> LayerSubject:
    from ....design.digits import train_digits  # needs scikit-learn, which only this source asks for

    digits = train_digits()
    return LayerSubject(
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
    if labels is not None and (following := following_layers(source)):
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
