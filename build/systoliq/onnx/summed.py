"""Operators that give sums, or real numbers made of them: from a node of the graph to the fields of its layer.

| MatMulInteger                        | int32 sums; Cast, Mul and Add may stand behind                           |
| DynamicQuantizeMatMul, com.microsoft | the same, from DynamicQuantizeLinear on, in one node                     |
| MatMulIntegerToFloat, com.microsoft  | the same without DynamicQuantizeLinear                                   |

b is constant, and its scale and zero point. A zero point of A that is not, or is one per row, comes with A at run time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .graph import Graph
from .narrow import format_of
from .node import NotTakenError, is_operator, together
from .surroundings import fused_host_part, host_part

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["dynamic_quantize_matmul", "matmul_integer", "matmul_integer_to_float"]


def matmul_integer(graph: Graph, node: NodeProto) -> dict[str, Any]:
    """Inputs: a, b, a_zero_point or '', b_zero_point or ''; a zero point that is left out is 0."""
    a, b, a_zero_point, b_zero_point = _inputs(node, 4)
    fields = _operand_fields(graph, a, a_zero_point, b, b_zero_point)
    host = host_part(graph, node, _columns(fields["b"]))
    return fields | {"host": host} | ({"b_scale": host.b_scale} if "a_format" in fields else {})


def dynamic_quantize_matmul(graph: Graph, node: NodeProto) -> dict[str, Any]:
    """Inputs: x, b, b_scale, b_zero_point or '', bias or ''."""
    _, b, b_scale, b_zero_point, bias = _inputs(node, 5)
    fields = _b_fields(graph, b, b_zero_point)
    fields |= {"a_format": format_of(np.dtype(np.uint8)), "b_scale": graph.constant(b_scale, "b_scale")}
    return fields | {"host": fused_host_part(graph, node, fields, bias, _columns(fields["b"]))}


def matmul_integer_to_float(graph: Graph, node: NodeProto) -> dict[str, Any]:
    """Inputs: a, b, a_scale, b_scale, a_zero_point or '', b_zero_point or '', bias or ''."""
    a, b, a_scale, b_scale, a_zero_point, b_zero_point, bias = _inputs(node, 7)
    fields = _operand_fields(graph, a, a_zero_point, b, b_zero_point)
    fields["b_scale"] = graph.constant(b_scale, "b_scale")
    if "a_format" not in fields:
        fields["a_scale"] = graph.constant(a_scale, "a_scale")
    return fields | {"host": fused_host_part(graph, node, fields, bias, _columns(fields["b"]))}


def _operand_fields(graph: Graph, a: str, a_zero_point: str, b: str, b_zero_point: str) -> dict[str, Any]:
    b_fields, a_fields = together(lambda: _b_fields(graph, b, b_zero_point), lambda: _a_fields(graph, a, a_zero_point))
    return {**b_fields, **a_fields}


def _columns(b: npt.NDArray[Any]) -> int:
    return b.shape[-1] if b.ndim else 1


def _inputs(node: NodeProto, count: int) -> Sequence[str]:
    """`count` names, '' for those that the node leaves out."""
    return [*node.input, *[""] * count][:count]


def _b_fields(graph: Graph, b: str, zero_point: str) -> dict[str, Any]:
    weights, given = together(
        lambda: graph.constant(b, "b"), lambda: graph.constant(zero_point, "b_zero_point") if zero_point else None
    )
    return {"b": weights, "b_zero_point": np.zeros((), weights.dtype) if given is None else given}


def _a_fields(graph: Graph, a: str, zero_point: str) -> dict[str, Any]:
    """A's zero point, or its format where that comes at run time."""
    given = graph.constant(zero_point, "a_zero_point") if graph.is_constant(zero_point) else None
    if given is not None and given.size == 1:
        return {"a_zero_point": given}
    kind = graph.type_of(a) if given is None else given.dtype
    if kind is None and (source := graph.producer(a)) is not None and is_operator(source, "DynamicQuantizeLinear"):
        kind = np.dtype(np.uint8)
    if kind is None:
        raise NotTakenError("a must have a zero point or a known type")
    return {"a_format": format_of(kind)} if zero_point else {"a_zero_point": np.zeros((), kind)}
