"""Late nodes of a model: those behind the last integers, which are the host's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..functions import all_nodes
from ..graph import Graph
from ..node import MOVES, is_operator
from ..operator import Operators
from ..quantization import integral

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["QUANTIZERS", "late_outputs"]

QUANTIZERS = ("QuantizeLinear", "DequantizeLinear")


def late_outputs(graph: Graph, operators: Operators) -> set[str]:
    """First outputs of nodes that give no integers and lead to none but their own: the host's at the end.

    A node that nothing reads (Softmax) may be quantized again there, and moved, as long as nothing else follows. A node
    that multiplies and accumulates may not, nor one behind its result: that is a layer of integers.
    """
    late: set[str] = set()
    only_followed: set[str] = set()  # by these, Q, DQ and moves
    requantized: set[str] = set()  # what a QuantizeLinear or another operator on integers follows
    for node in reversed(graph.graph.node):
        users = [user for name in node.output for user in graph.consumers(name)]
        operator = operators.of(node)
        worked = operator.multiply_accumulates(graph, node) != 0
        foreign = not callable(operator.network)
        follows = all(user.output[0] in only_followed for user in users)
        if follows and (foreign or is_operator(node, *QUANTIZERS, *MOVES)):
            only_followed.add(node.output[0])
        if any(user.output[0] in requantized or _quantizes(user) for user in users):
            requantized.add(node.output[0])
        sums = worked and (node.output[0] in requantized or any(map(integral, all_nodes([node]))))
        all_late = not _quantizes(node) and all(user.output[0] in late for user in users)
        if not sums and ((foreign and follows) or all_late):
            late.add(node.output[0])
    return late - _behind_sums(graph, operators, late, requantized)


def _quantizes(node: NodeProto) -> bool:
    return integral(node) and not is_operator(node, "DequantizeLinear")


def _behind_sums(graph: Graph, operators: Operators, late: set[str], requantized: set[str]) -> set[str]:
    """Outputs of nodes between a sum that is not the host's and the QuantizeLinear behind it."""
    found: set[str] = set()
    for node in graph.graph.node:
        output = node.output[0]
        sums = output not in late and operators.of(node).multiply_accumulates(graph, node) != 0
        behind = any(name in found for name in node.input) and not integral(node)
        if output in requantized and (sums or behind):
            found.add(output)
    return found
