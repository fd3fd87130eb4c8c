"""Late nodes of a model: those behind the last integers, which are the host's."""

from __future__ import annotations

from collections.abc import Container

from ..graph import Graph
from ..node import MOVES, domain, is_operator

__all__ = ["QUANTIZERS", "late_outputs"]

QUANTIZERS = ("QuantizeLinear", "DequantizeLinear")
_INTEGRAL = ("QuantizeLinear", "DynamicQuantizeLinear", "ConvInteger", "MatMulInteger", "QGemm")


def late_outputs(graph: Graph, handled: Container[tuple[str, str]]) -> set[str]:
    """First outputs of nodes that give no integers and lead to none but their own: the host's at the end.

    A node that nothing reads (Softmax) may be quantized again there, and moved, as long as nothing else follows.
    """
    late: set[str] = set()
    only_followed: set[str] = set()  # by these, Q, DQ and moves
    for node in reversed(graph.graph.node):
        users = [user for name in node.output for user in graph.consumers(name)]
        foreign = (domain(node), node.op_type) not in handled and not is_operator(node, *QUANTIZERS)
        follows = all(user.output[0] in only_followed for user in users)
        if follows and (foreign or is_operator(node, *QUANTIZERS, *MOVES)):
            only_followed.add(node.output[0])
        integral = node.op_type in _INTEGRAL or node.op_type.startswith("QLinear")
        if (foreign and follows) or (not integral and all(user.output[0] in late for user in users)):
            late.add(node.output[0])
    return late
