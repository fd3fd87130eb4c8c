"""Notes on int32 biases whose scale onnxruntime ignores where it fuses their product."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .graph import Graph
from .node import NotTakenError, attribute, is_operator, label
from .quantized import activations, bias_has_own_scale, weights

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["bias_notes_of"]


def bias_notes_of(graph: Graph, product: str | None = None) -> list[str]:
    """A note for each product, or the one of this name, with an int32 bias that has another scale than a_scale *
    b_scale.
    """
    return [
        f"the int32 bias {bias!r} of {label(node)} has another scale than a_scale * b_scale: the results are those "
        "of the nodes, and of onnxruntime with ORT_DISABLE_ALL; with optimizations, onnxruntime fuses the nodes and "
        "ignores this scale"
        for node, bias in _biased(graph)
        if product in (None, node.name or node.output[0]) and _has_own_scale(graph, node, bias)
    ]


def _biased(graph: Graph) -> Iterator[tuple[NodeProto, str]]:
    """Each Gemm with its bias, and each MatMul with what a following Add adds: onnxruntime fuses both."""
    for node in graph.graph.node:
        if is_operator(node, "Gemm") and len(node.input) > 2 and node.input[2]:
            yield node, node.input[2]
        elif is_operator(node, "Add"):
            for name, other in (tuple(node.input), tuple(reversed(node.input))):
                product = graph.producer(name)
                if product is not None and is_operator(product, "MatMul"):
                    yield product, other


def _has_own_scale(graph: Graph, product: NodeProto, bias: str) -> bool:
    transposed = product.op_type == "Gemm" and bool(attribute(product, "transB", 0))
    try:
        b, found = weights(graph, product.input[1], transposed=transposed)
        return bias_has_own_scale(graph, bias, activations(graph, product.input[0]), found, b.shape[1])
    except NotTakenError:  # not a product of quantized operands, or one that is refused where it is read
        return False
