"""Products that onnxruntime left in float, and the reason: the part of a QDQ pattern that is missing in the model."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..onnx.graph import Graph
from ..onnx.node import attribute, is_operator, label
from .lowering import Lowered
from .products import in_float

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["left_in_float"]

_Kind = Generator[str, None, "np.dtype[Any] | None"]
"""Faults, and then the type of the quantized integers, None if it is unknown."""

_WRITTEN = ("Conv", "MatMul", "Gemm")
"""Float products of a model for which onnxruntime has patterns; in the lowered graph, Fused may precede the name."""

_BIAS_TOLERANCE = 1e-3  # of a scale that is meant to be the product of two others

_FUSED_BEHIND = 4  # operators that onnxruntime makes one node with a product before them


def left_in_float(model: Lowered) -> dict[str, str]:
    """Why each product of the lowered `model` that is in float is, by the node's first output."""
    nodes = [node for node in model.graph.graph.node if in_float(node)]
    if not nodes:
        return {}
    return {node.output[0]: _reason(model.given.graph, node) for node in nodes}


def _reason(graph: Graph, lowered: NodeProto) -> str:
    if lowered.op_type.removeprefix("Fused") not in _WRITTEN:
        return "the engine does not compute this operator"
    node = _written(graph, lowered)
    if node is None:
        return "onnxruntime computes it in float"
    why = next(_faults(graph, node), "operands and result are quantized to 8 bits, but it fused none of its patterns")
    return f"onnxruntime left it in float: {why}"


def _written(graph: Graph, lowered: NodeProto) -> NodeProto | None:
    """The product in the original model that `lowered` was made from, possibly with fused operators after it."""
    node = graph.producer(lowered.output[0])
    for _ in range(_FUSED_BEHIND):
        if node is None or is_operator(node, lowered.op_type.removeprefix("Fused")):
            return node
        node = graph.producer(node.input[0]) if node.input else None
    return None


def _faults(graph: Graph, node: NodeProto) -> Iterator[str]:
    """Reasons why onnxruntime does not compute `node` on integers; the first is enough."""
    a = yield from _operand(graph, node, 0, "its first input")
    second = "its weight tensor" if _is_stored(graph, node.input[1]) else "its second input"
    b = yield from _operand(graph, node, 1, second)
    if a == np.int8 and b == np.uint8:
        yield "its first input stands for int8 and its second for uint8, and int8 must meet int8"
    yield from _result(graph, node, a)
    if len(node.input) > 2 and node.input[2]:
        yield from _bias(graph, node)


def _operand(graph: Graph, node: NodeProto, place: int, role: str) -> _Kind:
    """The faults of an operand, and the type of its quantized integers."""
    name = node.input[place]
    source = graph.producer(name)
    if source is None or not is_operator(source, "DequantizeLinear"):
        yield f"{role} {name!r} is real numbers of {graph.source(name)}, not of a DequantizeLinear"
        return None
    if attribute(source, "block_size", 0):
        yield f"{role} {name!r} has scales for blocks of elements in {label(source)}"
    return (yield from _eight_bits(graph.type_of(source.input[0]), f"{role} {name!r} must stand for"))


def _result(graph: Graph, node: NodeProto, a: np.dtype[Any] | None) -> Iterator[str]:
    """The faults of the result; the first operand has quantized integers of the type `a`."""
    name, users = node.output[0], graph.consumers(node.output[0])
    if graph.is_output(name):
        yield f"its result {name!r} leaves the model as real numbers, not by a QuantizeLinear"
    if len(users) != 1:
        targets = ", ".join(map(label, users)) or "nothing"
        yield f"its result {name!r} goes to {targets}, not to one QuantizeLinear alone"
    elif not is_operator(users[0], "QuantizeLinear"):
        effect = ", which changes it" if is_operator(users[0], "Relu", "Clip") else ""
        yield f"its result {name!r} goes to {label(users[0])}{effect}, not right to a QuantizeLinear"
    else:
        y = yield from _eight_bits(graph.type_of(users[0].output[0]), f"its result {name!r} must be quantized to")
        if a is not None and y is not None and a != y:
            yield f"its first input stands for {a.name} and its result for {y.name}, which must be of one type"


def _bias(graph: Graph, node: NodeProto) -> Iterator[str]:
    """The faults of a bias behind a DequantizeLinear."""
    sources = [graph.producer(name) for name in node.input[:3]]
    name, source = node.input[2], sources[2]
    if source is None or not is_operator(source, "DequantizeLinear"):
        return
    kind = graph.type_of(source.input[0])
    if kind is not None and kind != np.int32:
        yield f"its bias {name!r} must stand for int32, not {kind.name}"
    scales = [each.input[1] for each in sources if each is not None]
    if len(scales) == 3 and all(map(graph.is_constant, scales)):
        a, b, found = (graph.constant(each, "a scale").reshape(-1) for each in scales)
        if found.size not in (1, b.size) or not np.allclose(found, a[0] * b, rtol=_BIAS_TOLERANCE, atol=0):
            yield f"the scale of its bias {name!r} is not the product of the scales of its two operands"


def _eight_bits(kind: np.dtype[Any] | None, text: str) -> _Kind:
    if kind is not None and kind not in (np.int8, np.uint8):
        yield f"{text} int8 or uint8, not {kind.name}"
    return kind


def _is_stored(graph: Graph, name: str) -> bool:
    """True if a tensor is a constant, directly or through a DequantizeLinear."""
    source = graph.producer(name)
    if source is not None and is_operator(source, "DequantizeLinear"):
        name = source.input[0]
    return graph.is_constant(name)
