"""Matrix products that are layers: from a node of the graph to the fields of its layer.

| operator, domain         | pattern   | what surrounds it                                        |
| QLinearMatMul, also of   | QOperator | constant b, scales, zero points                          |
|   com.microsoft          |           |                                                          |
| QGemm, com.microsoft     | QOperator | the same, int32 bias, transB                             |
| Gemm                     | QDQ       | DQ(a), DQ(b), DQ(bias) or float32; Q behind or not: its  |
|                          |           | result is then int32 sums, and a float32 bias must be    |
|                          |           | whole multiples of a_scale * b_scale                     |
| MatMul                   | QDQ       | DQ(a), DQ(b); Add of a bias as above; Q behind or not    |
| MatMulInteger and others | QOperator | see `summed`                                             |

Those that give int32 sums have one more field, `host`: what stands around these.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from systoliq.golden.float8 import Float8Format

from .graph import Graph
from .narrow import in_bytes
from .node import NotTakenError, StaysFloatError, attribute, together
from .quantized import Output, Parameters, activations, bias_of, check_positive, follow_output, weights
from .surroundings import float_host_part

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["check_attributes", "gemm_layer", "matmul_layer", "qgemm_layer", "qlinear_matmul_layer"]

_NO_BIAS = (
    "a product with float8 must be without a bias, not with {!r}: make it a row of the weights, for an input that is 1"
)


def qlinear_matmul_layer(graph: Graph, node: NodeProto) -> dict[str, Any]:
    """Inputs: a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point."""
    return _operator(
        graph, node, ("a_scale", "a_zero_point", "b", "b_scale", "b_zero_point", "y_scale", "y_zero_point")
    )


def qgemm_layer(graph: Graph, node: NodeProto) -> dict[str, Any]:
    """Inputs: a, a_scale, a_zero_point, b, b_scale, b_zero_point, bias or '', y_scale, y_zero_point."""
    if len(node.input) < 9 or not node.input[7] or not node.input[8]:
        raise NotTakenError("y_scale and y_zero_point must be given: without them its result is float")
    names = ("a_scale", "a_zero_point", "b", "b_scale", "b_zero_point", "bias", "y_scale", "y_zero_point")
    named = names if node.input[6] else tuple(n.replace("bias", "") for n in names)
    fields: dict[str, Any]
    _, fields = together(lambda: check_attributes(node), lambda: _operator(graph, node, named))
    if attribute(node, "transB", 0):
        fields["b"] = fields["b"].T
    if "bias" in fields and _has_float8(*(fields[f"{operand}_zero_point"] for operand in "aby")):
        raise NotTakenError(_NO_BIAS.format(node.input[6]))
    if "bias" in fields and fields["bias"].shape[:-1] == (1,):
        fields["bias"] = fields["bias"].reshape(-1)  # [1, N]
    return fields


def _operator(graph: Graph, node: NodeProto, names: tuple[str, ...]) -> dict[str, Any]:
    """The constant inputs after the first, under `names`; those without a name are left out."""
    given = {name: (*node.input, *[""] * len(names))[i] for i, name in enumerate(names, 1) if name}
    if missing := [name for name, tensor in given.items() if not tensor]:
        raise NotTakenError(f"{missing[0]} must be given")
    values = together(*(partial(graph.constant, tensor, name) for name, tensor in given.items()))
    return dict(zip(given, values, strict=True))


def gemm_layer(graph: Graph, node: NodeProto) -> dict[str, Any]:
    """Inputs: a and b behind a DequantizeLinear, bias or ''."""
    given = node.input[2] if len(node.input) > 2 else ""
    transposed = bool(attribute(node, "transB", 0))
    fields: dict[str, Any]
    _, fields = together(
        lambda: check_attributes(node, beta=bool(given)),
        lambda: _dequantized(graph, node, given or None, transposed=transposed),
    )
    return fields


def matmul_layer(graph: Graph, node: NodeProto) -> dict[str, Any]:
    """Inputs: a and b behind a DequantizeLinear."""
    return _dequantized(graph, node, None, transposed=False)


def _dequantized(graph: Graph, node: NodeProto, given: str | None, *, transposed: bool) -> dict[str, Any]:
    """The layer of a Gemm or MatMul between DQ and Q; `given` is Gemm's own bias. Without a Q it gives int32 sums."""
    a, (weight, b), result = together(
        lambda: activations(graph, node.input[0]),
        lambda: weights(graph, node.input[1], transposed=transposed),
        lambda: _result_of(graph, node),
    )
    _check_scales({"a": a, "b": b} | ({} if result is None else {"y": result.y}))
    if result is None and _has_float8(a.zero_point, b.zero_point):
        raise NotTakenError("a product of float8 must go to a QuantizeLinear, since its sums are no integers")
    if result is None:
        bias = None if given is None else bias_of(graph, given, a, b, weight.shape[1], requantized=False)
        host = float_host_part(graph, node, b)
        return in_bytes({"b": weight, **_fields("a", a), **_fields("b", b), "bias": bias, "host": host})
    if given and result.added:
        raise NotTakenError(f"one bias must be added, not {given!r} and then {result.added!r}")
    added = given or result.added
    if added and _has_float8(a.zero_point, b.zero_point, result.y.zero_point):
        raise NotTakenError(_NO_BIAS.format(added))
    bias = None if added is None else bias_of(graph, added, a, b, weight.shape[1])
    return in_bytes({"b": weight, **_fields("a", a), **_fields("b", b), **_fields("y", result.y), "bias": bias})


def _check_scales(operands: dict[str, Parameters]) -> None:
    """Check scales: any value is supported where onnxruntime's fused operators, or its fusion, support it."""
    fused = "y" in operands and all(each.zero_point.dtype.name in ("int8", "uint8") for each in operands.values())
    for role, each in operands.items():
        if not fused:
            check_positive(role, each.scale, "unless a, b and y have 8 bits, as onnxruntime fuses such products")


def _has_float8(*zero_points: npt.NDArray[Any]) -> bool:
    return any(Float8Format.of(each.dtype) is not None for each in zero_points)


def _result_of(graph: Graph, node: NodeProto) -> Output | None:
    """The nodes after the product; None if its result stays float."""
    try:
        return follow_output(graph, node)
    except StaysFloatError:
        return None


def _fields(operand: str, parameters: Parameters) -> dict[str, npt.NDArray[Any]]:
    return {f"{operand}_scale": parameters.scale, f"{operand}_zero_point": parameters.zero_point}


def check_attributes(node: NodeProto, *, beta: bool = False) -> None:
    """A NotTakenError for a Gemm with transA, alpha or, where it counts, beta."""
    factors = {name: attribute(node, name, 1.0) for name in ("alpha", *["beta"] * beta)}
    reasons = ["transA must be 0: rows of A arrive one after the other"] * bool(attribute(node, "transA", 0))
    if reasons := reasons + [f"{name} must be 1, not {value:g}" for name, value in factors.items() if value != 1]:
        raise NotTakenError("; ".join(reasons))
