"""The operators and patterns that are taken: from a node of the graph to the fields of its layer.

| operator, domain         | pattern   | what surrounds it                                        |
| QLinearMatMul, also of   | QOperator | constant b, scales, zero points                          |
|   com.microsoft          |           |                                                          |
| QGemm, com.microsoft     | QOperator | the same, int32 bias, transB                             |
| Gemm                     | QDQ       | DQ(a), DQ(b), DQ(bias) or whole multiples; Q behind      |
| MatMul                   | QDQ       | DQ(a), DQ(b); Add of a bias as above; Q behind           |
| MatMulInteger            | QOperator | constant b and zero points; its result is int32 sums     |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.float8 import Float8Format

from .graph import Graph, NotTakenError, attribute
from .narrow import in_bytes
from .quantized import Parameters, activations, bias_of, follow_output, weights

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["REFUSED", "TAKEN"]

_NOT_READ = "of the operators of com.microsoft only QGemm and QLinearMatMul are read"
_DYNAMIC = (
    "its result is float; the product inside is MatMulInteger's, which the engine computes (systoliq emit engine)"
)
_ONLY = "only MatMul and Gemm may stand between DequantizeLinear and QuantizeLinear"
_FLOAT_WEIGHTS = "weights are quantized in blocks and the product is computed in float"

_NO_BIAS = (
    "a product of float8 must be without a bias, not with {!r}: make it a row of the weights, for an input that is 1"
)

# Products that are never layers, and why.
REFUSED = {
    ("com.microsoft", "DynamicQuantizeMatMul"): _DYNAMIC,
    ("com.microsoft", "MatMulIntegerToFloat"): _DYNAMIC,
    ("com.microsoft", "MatMulInteger16"): _NOT_READ,
    ("com.microsoft", "MatMulNBits"): _FLOAT_WEIGHTS,
    ("com.microsoft", "MatMulBnb4"): _FLOAT_WEIGHTS,
    ("com.microsoft", "MatMulFpQ4"): _FLOAT_WEIGHTS,
    ("com.microsoft", "FusedMatMul"): _ONLY,
    ("com.microsoft", "FusedGemm"): _ONLY,
    ("com.microsoft", "TransposeMatMul"): _ONLY,
}


def _qlinear_matmul(graph: Graph, node: NodeProto) -> dict[str, Any]:
    return _operator(
        graph, node, ("a_scale", "a_zero_point", "b", "b_scale", "b_zero_point", "y_scale", "y_zero_point")
    )


def _matmul_integer(graph: Graph, node: NodeProto) -> dict[str, Any]:
    """Inputs: a, b, a_zero_point or '', b_zero_point or ''; a zero point that is left out is 0."""
    a, weight, *rest = node.input
    a_zero_point, b_zero_point = (*rest, "", "")[:2]
    fields = {"b": graph.constant(weight, "b")}
    if a_zero_point and not graph.is_constant(a_zero_point):
        raise NotTakenError(
            f"a_zero_point must be constant, not from {graph.source(a_zero_point)}: a layer has no register yet for "
            "one that is known at run time only (dynamic quantization); "
            "use the engine (systoliq emit engine) or systoliq.golden.matmul_integer"
        )
    kind = graph.type_of(a)
    if a_zero_point:
        fields["a_zero_point"] = graph.constant(a_zero_point, "a_zero_point")
    elif kind is None:
        raise NotTakenError("a must have a zero point or a known type")
    else:
        fields["a_zero_point"] = np.zeros((), kind)
    given = graph.constant(b_zero_point, "b_zero_point") if b_zero_point else np.zeros((), fields["b"].dtype)
    return {**fields, "b_zero_point": given}


def _qgemm(graph: Graph, node: NodeProto) -> dict[str, Any]:
    """Inputs: a, a_scale, a_zero_point, b, b_scale, b_zero_point, bias or '', y_scale, y_zero_point."""
    _check_attributes(node)
    if len(node.input) < 9 or not node.input[7] or not node.input[8]:
        raise NotTakenError("y_scale and y_zero_point must be given: without them its result is float")
    names = ("a_scale", "a_zero_point", "b", "b_scale", "b_zero_point", "bias", "y_scale", "y_zero_point")
    fields = _operator(graph, node, names if node.input[6] else tuple(n.replace("bias", "") for n in names))
    if attribute(node, "transB", 0):
        fields["b"] = fields["b"].T
    if "bias" in fields and Float8Format.of(fields["b"].dtype) is not None:
        raise NotTakenError(_NO_BIAS.format(node.input[6]))
    if "bias" in fields and fields["bias"].shape[:-1] == (1,):
        fields["bias"] = fields["bias"].reshape(-1)  # [1, N]
    return fields


def _operator(graph: Graph, node: NodeProto, names: tuple[str, ...]) -> dict[str, Any]:
    """The constant inputs after the first, under `names`; those without a name are left out."""
    return {name: graph.constant(node.input[i], name) for i, name in enumerate(names, 1) if name}


def _gemm(graph: Graph, node: NodeProto) -> dict[str, Any]:
    _check_attributes(node)
    given = node.input[2] if len(node.input) > 2 else ""
    if given and attribute(node, "beta", 1.0) != 1:
        raise NotTakenError(f"beta must be 1, not {attribute(node, 'beta'):g}")
    return _dequantized(graph, node, given or None, transposed=bool(attribute(node, "transB", 0)))


def _matmul(graph: Graph, node: NodeProto) -> dict[str, Any]:
    return _dequantized(graph, node, None, transposed=False)


def _dequantized(graph: Graph, node: NodeProto, given: str | None, *, transposed: bool) -> dict[str, Any]:
    """The layer of a Gemm or MatMul between DQ and Q; `given` is Gemm's own bias."""
    a = activations(graph, node.input[0])
    weight, b = weights(graph, node.input[1], transposed=transposed)
    result = follow_output(graph, node)
    if given and result.added:
        raise NotTakenError(f"one bias must be added, not {given!r} and then {result.added!r}")
    added = given or result.added
    if added and Float8Format.of(b.zero_point.dtype) is not None:
        raise NotTakenError(_NO_BIAS.format(added))
    bias = None if added is None else bias_of(graph, added, a, b, weight.shape[1])
    return in_bytes({"b": weight, **_fields("a", a), **_fields("b", b), **_fields("y", result.y), "bias": bias})


def _fields(operand: str, parameters: Parameters) -> dict[str, npt.NDArray[Any]]:
    return {f"{operand}_scale": parameters.scale, f"{operand}_zero_point": parameters.zero_point}


def _check_attributes(node: NodeProto) -> None:
    if attribute(node, "transA", 0):
        raise NotTakenError("transA must be 0: rows of A arrive one after the other")
    if attribute(node, "alpha", 1.0) != 1:
        raise NotTakenError(f"alpha must be 1, not {attribute(node, 'alpha'):g}")


# (domain, operator): pattern, place of B among the inputs, what reads it
TAKEN: dict[tuple[str, str], tuple[str, int, Callable[[Graph, NodeProto], dict[str, Any]]]] = {
    ("", "QLinearMatMul"): ("QOperator", 3, _qlinear_matmul),
    ("com.microsoft", "QLinearMatMul"): ("QOperator", 3, _qlinear_matmul),  # as onnxruntime's quantizer writes float8
    ("com.microsoft", "QGemm"): ("QOperator", 3, _qgemm),
    ("", "Gemm"): ("QDQ", 1, _gemm),
    ("", "MatMul"): ("QDQ", 1, _matmul),
    ("", "MatMulInteger"): ("QOperator", 1, _matmul_integer),
}
