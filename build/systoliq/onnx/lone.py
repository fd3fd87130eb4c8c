"""Models that are one matrix product alone: FILE.onnx is then that layer, with the host's part around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .catalogue import CATALOGUE
from .functions import all_nodes
from .graph import Graph
from .node import MOVES, NotTakenError, StaysFloatError, is_operator
from .quantization import integral
from .quantized import follow_output

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["is_lone_product"]

_KEPT = tuple(name for name in MOVES if name != "Transpose")  # the order of elements stays
_BEFORE = ("QuantizeLinear", "DynamicQuantizeLinear")
_BETWEEN = ("Add", "Relu", *_KEPT)  # a product and its QuantizeLinear


def is_lone_product(graph: Graph) -> bool:
    """True if all of `graph` is one matrix product, supported or not, and the host's part around it.

    Before the product the host quantizes, once; behind it are one QuantizeLinear at most, and real numbers of the
    host. No other node multiplies and accumulates, and none works on integers but those that quantize.
    """
    nodes = list(graph.graph.node)
    products = [node for node in all_nodes(nodes) if CATALOGUE.of(node).layer is not None]
    if len(products) != 1 or graph.producer(products[0].output[0]) is None:  # in a body
        return False
    (product,) = products
    if not product.input:  # the checker counts inputs of ONNX's own operators alone
        return False
    others = [node for node in nodes if node.output != product.output and not _is_constant(graph, node)]
    if any(CATALOGUE.of(node).multiply_accumulates(graph, node) != 0 or _works_on_integers(node) for node in others):
        return False
    quantizers = {node.output[0] for node in others if is_operator(node, *_BEFORE)}
    before, behind = _quantizer_before(graph, product), _quantizer_behind(graph, product)
    known = {node.output[0] for node in (before, behind) if node is not None}
    integers = behind.output[0] if behind is not None else product.output[0]
    quantized = behind is not None or product.op_type.startswith("Q")
    return quantizers <= known and _starts(graph, product, before) and not (quantized and _goes_on(graph, integers))


def _is_constant(graph: Graph, node: NodeProto) -> bool:
    name = node.input[0] if is_operator(node, "DequantizeLinear") else node.output[0]
    return graph.is_constant(name)


def _works_on_integers(node: NodeProto) -> bool:
    return integral(node) and not is_operator(node, *_BEFORE, "DequantizeLinear")


def _first(graph: Graph, product: NodeProto) -> tuple[NodeProto | None, str]:
    """The node that A comes from, over DequantizeLinear and moves that keep its order, and the tensor that it makes."""
    name = product.input[0]
    while (node := graph.producer(name)) is not None and is_operator(node, "DequantizeLinear", *_KEPT):
        name = node.input[0]
    return node, name


def _quantizer_before(graph: Graph, product: NodeProto) -> NodeProto | None:
    node, _ = _first(graph, product)
    return node if node is not None and is_operator(node, *_BEFORE) else None


def _starts(graph: Graph, product: NodeProto, quantizer: NodeProto | None) -> bool:
    """True if A is an input of the graph, the result of `quantizer`, or real numbers that the product quantizes."""
    node, _ = _first(graph, product)
    return quantizer is not None or node is None or product.op_type == "DynamicQuantizeMatMul"


def _quantizer_behind(graph: Graph, product: NodeProto) -> NodeProto | None:
    """The QuantizeLinear after the product, possibly after nodes that belong to the layer."""
    if product.op_type in ("MatMul", "Gemm"):
        try:
            follow_output(graph, product)
        except StaysFloatError:
            return None
        except NotTakenError:  # the layer's own reason
            pass
    name = product.output[0]
    while len(users := graph.consumers(name)) == 1:
        (node,) = users
        if is_operator(node, "QuantizeLinear"):
            return node
        if not is_operator(node, *_BETWEEN):
            return None
        name = node.output[0]
    return None


def _goes_on(graph: Graph, name: str) -> bool:
    """True if the integers `name` are used by nodes other than the host's: DequantizeLinear, Cast, moves."""
    todo = [name]
    while todo:
        for node in graph.consumers(todo.pop()):
            if is_operator(node, *_KEPT):
                todo.append(node.output[0])
            elif not is_operator(node, "DequantizeLinear", "Cast"):
                return True
    return False
