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
from .node import Given, NotTakenError, StaysFloatError, attribute, together
from .quantized import Output, Parameters, activations, bias_of, check_positive, follow_output, weights
from .surroundings import float_host_part

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["check_attributes", "dequantized", "rescaled"]

_NO_BIAS = (
    "a product with float8 must be without a bias, not with {!r}: make it a row of the weights, for an input that is 1"
)


def rescaled(graph: Graph, node: NodeProto, given: Given) -> dict[str, Any]:
    """The layer of a QLinearMatMul or QGemm, whose inputs but a are constant."""
    if node.op_type == "QGemm" and not (given["y_scale"] and given["y_zero_point"]):
        raise NotTakenError("y_scale and y_zero_point must be given: without them its result is float")
    fields: dict[str, Any]
    _, fields = together(lambda: check_attributes(node), lambda: _constants(graph, given))
    if attribute(node, "transB", 0):
        fields["b"] = fields["b"].T
    if "bias" in fields and _has_float8(*(fields[f"{operand}_zero_point"] for operand in "aby")):
        raise NotTakenError(_NO_BIAS.format(given["bias"]))
    if "bias" in fields and fields["bias"].shape[:-1] == (1,):
        fields["bias"] = fields["bias"].reshape(-1)  # [1, N]
    return fields


def _constants(graph: Graph, given: Given) -> dict[str, Any]:
    """The constant inputs, by role: all but a, and the bias where it is given."""
    names = {role: name for role, name in given.items() if role != "a" and (name or role != "bias")}
    if missing := [role for role, name in names.items() if not name]:
        raise NotTakenError(f"{missing[0]} must be given")
    values = together(*(partial(graph.constant, name, role) for role, name in names.items()))
    return dict(zip(names, values, strict=True))


def dequantized(graph: Graph, node: NodeProto, given: Given) -> dict[str, Any]:
    """The layer of a Gemm or MatMul between DQ and Q. Without a Q it gives int32 sums."""
    bias = given.get("bias") or None
    fields: dict[str, Any]
    _, fields = together(
        lambda: check_attributes(node, beta=bias is not None),
        lambda: _between(graph, node, bias, transposed=bool(attribute(node, "transB", 0))),
    )
    return fields


def _between(graph: Graph, node: NodeProto, given: str | None, *, transposed: bool) -> dict[str, Any]:
    """The fields of `dequantized`; `given` is Gemm's own bias."""
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
