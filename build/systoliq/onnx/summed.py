"""Operators that give sums, or real numbers made of them: from a node of the graph to the fields of its layer.

| MatMulInteger                        | int32 sums; Cast, Mul and Add may stand behind                           |
| DynamicQuantizeMatMul, com.microsoft | the same, from DynamicQuantizeLinear on, in one node                     |
| MatMulIntegerToFloat, com.microsoft  | the same without DynamicQuantizeLinear                                   |

b is constant, and its scale and zero point. A zero point of A that is not, or is one per row, comes with A at run time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .graph import Graph
from .narrow import format_of
from .node import Given, NotTakenError, is_operator, together
from .surroundings import fused_host_part, host_part

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["dynamic_quantize_matmul", "matmul_integer", "matmul_integer_to_float"]


def matmul_integer(graph: Graph, node: NodeProto, given: Given) -> dict[str, Any]:
    """int32 sums; a zero point that is left out is 0."""
    fields = _operand_fields(graph, given)
    host = host_part(graph, node, _columns(fields["b"]))
    return fields | {"host": host} | ({"b_scale": host.b_scale} if "a_format" in fields else {})


def dynamic_quantize_matmul(graph: Graph, node: NodeProto, given: Given) -> dict[str, Any]:
    """int32 sums of uint8 that DynamicQuantizeLinear gives; the node contains both, and the host's part behind."""
    fields = _b_fields(graph, given)
    fields |= {"a_format": format_of(np.dtype(np.uint8)), "b_scale": graph.constant(given["b_scale"], "b_scale")}
    return fields | {"host": fused_host_part(graph, node, fields, given["bias"], _columns(fields["b"]))}


def matmul_integer_to_float(graph: Graph, node: NodeProto, given: Given) -> dict[str, Any]:
    """int32 sums; the node contains the host's part behind these."""
    fields = _operand_fields(graph, given)
    fields["b_scale"] = graph.constant(given["b_scale"], "b_scale")
    if "a_format" not in fields:
        fields["a_scale"] = graph.constant(given["a_scale"], "a_scale")
    return fields | {"host": fused_host_part(graph, node, fields, given["bias"], _columns(fields["b"]))}


def _operand_fields(graph: Graph, given: Given) -> dict[str, Any]:
    b_fields, a_fields = together(lambda: _b_fields(graph, given), lambda: _a_fields(graph, given))
    return {**b_fields, **a_fields}


def _columns(b: npt.NDArray[Any]) -> int:
    return b.shape[-1] if b.ndim else 1


def _b_fields(graph: Graph, given: Given) -> dict[str, Any]:
    name = given["b_zero_point"]
    weights, zero_point = together(
        lambda: graph.constant(given["b"], "b"), lambda: graph.constant(name, "b_zero_point") if name else None
    )
    return {"b": weights, "b_zero_point": np.zeros((), weights.dtype) if zero_point is None else zero_point}


def _a_fields(graph: Graph, given: Given) -> dict[str, Any]:
    """A's zero point, or its format where that comes at run time."""
    a, name = given["a"], given["a_zero_point"]
    zero_point = graph.constant(name, "a_zero_point") if graph.is_constant(name) else None
    if zero_point is not None and zero_point.size == 1:
        return {"a_zero_point": zero_point}
    kind = graph.type_of(a) if zero_point is None else zero_point.dtype
    if kind is None and (source := graph.producer(a)) is not None and is_operator(source, "DynamicQuantizeLinear"):
        kind = np.dtype(np.uint8)
    if kind is None:
        raise NotTakenError("a must have a zero point or a known type")
    return {"a_format": format_of(kind)} if name else {"a_zero_point": np.zeros((), kind)}
