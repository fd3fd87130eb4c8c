"""Shapes and types of a model's tensors, inferred by the onnx library, which knows no operator of com.microsoft.

Each of those that onnxruntime's quantizer writes has the shape, and the type, of an operator of ONNX on the same
tensors. So shapes are inferred for a copy of the model with these operators instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..errors import need
from .functions import all_nodes

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

__all__ = ["with_shapes"]

_Pick = Callable[[Sequence[str]], Sequence[str]]
_LIKE: dict[str, tuple[str, _Pick]] = {
    **dict.fromkeys(("QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax"), ("Identity", lambda given: given[:1])),
    "QLinearAdd": ("Add", lambda given: given[0:4:3]),
    "QLinearMul": ("Mul", lambda given: given[0:4:3]),
    "QLinearAveragePool": ("AveragePool", lambda given: given[:1]),
    "QLinearGlobalAveragePool": ("GlobalAveragePool", lambda given: given[:1]),
    "QLinearConcat": ("Concat", lambda given: given[2::3]),
    "QLinearConv": ("QLinearConv", lambda given: given),
    "QLinearMatMul": ("QLinearMatMul", lambda given: given),
    "QGemm": ("Gemm", lambda given: given[0:4:3]),
    "FusedConv": ("Conv", lambda given: given[:3]),
    "QuantizeLinear": ("QuantizeLinear", lambda given: given),
    "DequantizeLinear": ("DequantizeLinear", lambda given: given),
}
"""By the name of an operator of com.microsoft: the operator of ONNX with its shape, and which inputs that has."""

_KEPT = {
    "AveragePool": {"auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"},
    "Concat": {"axis"},
    "Gemm": {"transA", "transB"},
    "QuantizeLinear": {"axis"},
    "DequantizeLinear": {"axis"},
}
_WINDOW = {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}
_GEMM_INPUTS = 8  # of a QGemm whose result is quantized; of others it is float


def with_shapes(model: ModelProto) -> ModelProto:
    """Return `model` with inferred shapes; raise what the onnx library raises."""
    onnx = need("onnx", "onnx", "reading ONNX models", extra="onnx")
    if not any(map(_is_other, model.graph.node)):
        found: ModelProto = onnx.shape_inference.infer_shapes(model, data_prop=True)
        return found
    alike: ModelProto = type(model).FromString(model.SerializeToString())
    for node in filter(_is_other, all_nodes(alike.graph.node)):
        _replace(node)
    known = onnx.shape_inference.infer_shapes(alike, data_prop=True)
    made: ModelProto = type(model).FromString(model.SerializeToString())
    for field in ("value_info", "output"):
        kept = getattr(made.graph, field)
        del kept[:]
        kept.extend(getattr(known.graph, field))
    return made


def _is_other(node: NodeProto) -> bool:
    """True if `node` has the shape of an operator of ONNX."""
    if node.domain != "com.microsoft" or node.op_type not in _LIKE:
        return False
    last = any(each.name == "channels_last" and each.i for each in node.attribute)
    return not last and (node.op_type != "QGemm" or len(node.input) >= _GEMM_INPUTS)


def _replace(node: NodeProto) -> None:
    """Make of `node` the operator of ONNX."""
    name, pick = _LIKE[node.op_type]
    inputs = list(pick(node.input))
    attributes = [each for each in node.attribute if each.name in _KEPT.get(name, _WINDOW)]
    node.op_type, node.domain = name, ""
    del node.input[:], node.attribute[:]
    node.input.extend(inputs)
    node.attribute.extend(attributes)
