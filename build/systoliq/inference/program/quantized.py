"""Float nodes between a DequantizeLinear and a QuantizeLinear, which work on integers as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...onnx.graph import Graph
from ...onnx.node import is_operator

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["quantized_node"]


def quantized_node(graph: Graph, last: NodeProto, operator: str) -> tuple[NodeProto, NodeProto] | None:
    """Return the DequantizeLinear and the node `operator` before the QuantizeLinear `last`; None if other nodes are
    there, see what is between, or the scales and zero points of both ends are computed.
    """
    if not is_operator(last, "QuantizeLinear"):
        return None
    node = graph.producer(last.input[0])
    if node is None or node.op_type != operator or not graph.has_one_use(last.input[0]):
        return None
    first = graph.producer(node.input[0])
    if first is None or not is_operator(first, "DequantizeLinear") or not graph.has_one_use(node.input[0]):
        return None
    numbers = [name for each in (first, last) for name in each.input[1:] if name]
    return (first, node) if all(graph.is_constant(name) for name in numbers) else None
