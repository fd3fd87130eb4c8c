"""Shapes and types of a model's tensors, inferred by the onnx library, which knows no operator of com.microsoft.

Each of those that onnxruntime's quantizer writes has the shape, and the type, of an operator of ONNX on the same
tensors. So shapes are inferred for a copy of the model with these operators instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import need
from .functions import all_nodes
from .operator import Operators

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

__all__ = ["with_shapes"]

_GEMM_INPUTS = 8  # of a QGemm whose result is quantized; of others it is float


def with_shapes(model: ModelProto, operators: Operators) -> ModelProto:
    """Return `model` with inferred shapes, with operators as `operators` say; raise what the onnx library raises."""
    alike: ModelProto = type(model).FromString(model.SerializeToString())
    for node in all_nodes(alike.graph.node):
        if _is_other(node, operators):
            _replace(node, operators)
    known = _inferred(alike)
    while _state_shapes(alike, known):
        known = _inferred(alike)
    del known.graph.node[:]
    known.graph.node.extend(model.graph.node)
    return known


def _inferred(model: ModelProto) -> ModelProto:
    onnx = need("onnx", "onnx", "reading ONNX models", extra="onnx")
    known: ModelProto = onnx.shape_inference.infer_shapes(model, data_prop=True)
    return known


def _state_shapes(model: ModelProto, known: ModelProto) -> bool:
    """Make constants in `model` of the Shape nodes whose inputs have numbers for all dimensions in `known`, if a
    Reshape has no shape there: the library does not follow a shape through DequantizeLinear. Return whether any were.
    """
    from onnx import helper

    infos = {info.name: info.type.tensor_type for info in (*known.graph.value_info, *known.graph.input)}
    shapes = {name: [dim.dim_value for dim in kind.shape.dim] for name, kind in infos.items() if kind.HasField("shape")}
    if all(shapes.get(node.output[0]) for node in known.graph.node if node.op_type == "Reshape"):
        return False
    stated = False
    for node in model.graph.node:
        if node.op_type == "Shape" and not node.domain and all(sizes := shapes.get(node.input[0], [0])):
            ends = {each.name: each.i for each in node.attribute}
            part = sizes[ends.get("start", 0) : ends.get("end", len(sizes))]
            constant = helper.make_node("Constant", [], list(node.output), name=node.name, value_ints=part)
            node.CopyFrom(constant)
            stated = True
    return stated


def _is_other(node: NodeProto, operators: Operators) -> bool:
    """True if `node` has the shape of another operator."""
    last = any(each.name == "channels_last" and each.i for each in node.attribute)
    floating = node.op_type == "QGemm" and len(node.input) < _GEMM_INPUTS
    return bool(node.domain and operators.of(node).like and not last and not floating)


def _replace(node: NodeProto, operators: Operators) -> None:
    """Make of `node` the operator that has its shape."""
    from onnx import defs

    operator = operators.of(node)
    if operator.like != operator.name:
        inputs = operator.operands(node)
        del node.input[:]
        node.input.extend(inputs)
    known = defs.get_schema(operator.like).attributes
    attributes = [each for each in node.attribute if each.name in known]
    del node.attribute[:]
    node.attribute.extend(attributes)
    node.op_type, node.domain = operator.like, ""
