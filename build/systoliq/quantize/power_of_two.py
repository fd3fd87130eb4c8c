"""Scales that are powers of two: requantizers shift instead of multiplying, which makes the hardware smaller."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import need

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["power_of_two_overrides"]


def power_of_two_overrides(path: Path) -> dict[str, Any]:
    """Return the overrides with which onnxruntime's quantizer rounds each scale of the quantized model in the file
    `path` up to a power of two: its extra option `TensorQuantOverrides`.

    Zero points stay. A range that holds 0 at one end keeps that end; no range gets smaller. Scales of biases follow.
    """
    onnx = need("onnx", "onnx", "quantizing a model", extra="demo")
    model: ModelProto = onnx.load(path)
    held = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    found = {}
    for node in model.graph.node:
        if node.op_type in ("QuantizeLinear", "DequantizeLinear") and len(node.input) == 3:
            of, scale, zero_point = (held.get(name) for name in node.input)
            if scale is None or zero_point is None or (of is not None and of.dtype == np.int32):
                continue
            axis = next((each.i for each in node.attribute if each.name == "axis"), None)
            found[node.input[1].removesuffix("_scale")] = _overrides(scale, zero_point, axis)
    return found


def _overrides(scale: npt.NDArray[Any], zero_point: npt.NDArray[Any], axis: int | None) -> list[dict[str, Any]]:
    """Return an override for each channel of a tensor, or for all: the next power of two, and the zero point."""
    rounded = np.exp2(np.ceil(np.log2(scale))).astype(np.float32)
    along = {"axis": axis} if scale.ndim else {}
    pairs = zip(np.ravel(rounded), np.ravel(zero_point), strict=True)
    return [{"scale": np.asarray(s), "zero_point": np.asarray(z), **along} for s, z in pairs]
