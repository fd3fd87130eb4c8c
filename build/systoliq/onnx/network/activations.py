"""Activations with a scale for each channel, as NNCF quantizes what a depthwise convolution takes.

    Conv -> Relu or Clip -> QuantizeLinear<axis = 1> -> DequantizeLinear<axis = 1> -> depthwise Conv

No sum mixes channels, so the weights can take over their scales: the weights of the first convolution are divided by
them, and the weights of the second one are multiplied by them. The integers are read as if they all had the first
channel's scale.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from systoliq.golden.network import Convolution

from ..node import NotTakenError, attribute, is_operator, label
from ..quantized import Parameters, output_type, parameters_of
from . import quantizers
from .quantizers import bounds_of, tensor_of
from .reader import Reader
from .values import ByChannel, Pending, Unknown, Value

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["dequantize_linear", "quantize_linear"]


def quantize_linear(reader: Reader, node: NodeProto) -> Value:
    """Return the integers of the node's input, whose scale is one, or one for each channel."""
    found = parameters_of(reader.graph, node, "its output", output_type(node))
    if found.scale.size > 1 and not isinstance(reader.values.get(node.input[0]), Unknown):
        return _quantized_by_channel(reader, node, found)
    return quantizers.quantize_linear(reader, node, found)


def dequantize_linear(reader: Reader, node: NodeProto) -> Value:
    """Return integers as the real numbers that the node defines."""
    value = reader.value(node.input[0])
    if isinstance(value, ByChannel):
        found = parameters_of(reader.graph, node, "its input", value.tensor.format.dtype)
        return _dequantized_by_channel(node, value, found)
    return quantizers.dequantize_linear(reader, node)


def _quantized_by_channel(reader: Reader, node: NodeProto, found: Parameters) -> Value:
    """Return the integers of a QuantizeLinear after a convolution; `found` has a scale for each channel."""
    x = node.input[0]
    value = reader.value(x)
    channels = found.scale.size
    if not isinstance(value, Pending) or value.line is None:
        raise NotTakenError(
            f"its input {x!r} must be quantized with one scale, not with one for each channel, as it does not come "
            "from a Conv"
        )
    if len(value.shape) != 4 or value.shape[1] != channels or attribute(node, "axis", 1) not in (1, -3):
        raise NotTakenError(f"its {channels} scales must be those of the channels, dimension 1 of {list(value.shape)}")
    if not reader.graph.has_one_use(x):
        raise NotTakenError(f"its input {x!r} must have this one use, as its scales are those of channels")
    _expect_convolutions(reader, node)
    points = np.unique(found.zero_point)
    if points.size != 1 or not (np.isfinite(found.scale) & (found.scale > 0)).all():
        raise NotTakenError("the channels must have one zero point, and positive, finite scales")
    first = found.scale.reshape(-1)[:1]
    y = tensor_of(node.output[0], value.shape, first, points)
    for clamp in value.clamps:
        least, most = bounds_of(reader.graph, clamp)
        for scale in found.scale.tolist():
            own = y.replace(scale=np.float32(scale))
            if int(own.quantize(least)) > y.format.min or int(own.quantize(most)) < y.format.max:
                raise NotTakenError(
                    f"{label(clamp)} must be without effect before {label(node)}, whose scales are those of channels, "
                    f"not cut the channel with the scale {scale:.6g}"
                )
    gain = float(first[0]) / found.scale.astype(np.float64).reshape(-1)
    *before, sums = value.make(y)
    if not isinstance(sums, Convolution):
        raise TypeError(f"the operator of a Conv must be a Convolution, not {type(sums).__name__}")
    layer = sums.layer.replace(b_scale=(sums.layer.b_scale * gain).astype(np.float32))
    reader.emit(value.node, (*before, dataclasses.replace(sums, layer=layer)))
    reader.fold(node, value.node)
    return ByChannel(tensor=y, scales=found.scale.reshape(-1))


def _dequantized_by_channel(node: NodeProto, value: ByChannel, found: Parameters) -> Value:
    """Return the result of a DequantizeLinear of `value`; `found` must equal the QuantizeLinear's parameters."""
    same = np.array_equal(found.scale.reshape(-1), value.scales) and attribute(node, "axis", 1) in (1, -3)
    if not same or (found.zero_point != value.tensor.zero_point).any():
        raise NotTakenError("its scales, zero points and axis must be those of the QuantizeLinear before it")
    return value


def _expect_convolutions(reader: Reader, node: NodeProto) -> None:
    """Raise NotTakenError if the integers go elsewhere than through DequantizeLinear to a Conv."""
    graph = reader.graph
    behind = graph.consumers(node.output[0])
    last = [user for each in behind for user in graph.consumers(each.output[0])]
    inner = [node.output[0], *(each.output[0] for each in behind)]
    fine = all(is_operator(each, "DequantizeLinear") for each in behind) and last
    if not fine or not all(is_operator(each, "Conv") for each in last) or any(map(graph.is_output, inner)):
        raise NotTakenError(
            "integers with a scale for each channel must go to depthwise convolutions alone: quantize them with one "
            "scale"
        )
