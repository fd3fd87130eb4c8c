"""Products of a lowered graph: the nodes that the engine takes, the reasons against others, and the request of each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..onnx.graph import Graph
from ..onnx.node import domain
from . import convolutions, matrix_products
from .operations import Array, Asked, Inputs

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["Known", "asked_of_engine", "computed_parameter", "in_float", "is_product", "known", "reason_for_host"]

_MICROSOFT = "com.microsoft"
_BYTES = (np.dtype(np.int8), np.dtype(np.uint8))


@dataclass(frozen=True, kw_only=True)
class _Kind:
    """An operator with `count` inputs; inputs at `bytes` must have 8 bits, and the input at `weights` is B.

    Inputs at `constants` are stored in the tables of jobs. `zero_points` are the positions of the zero points of A and
    B; None if the operator computes it.
    """

    count: int
    bytes: tuple[int, ...]
    weights: int
    zero_points: tuple[int | None, int]
    make: Callable[[NodeProto, Inputs], Asked]
    constants: tuple[int, ...] = ()


_MATMUL = _Kind(
    count=8, bytes=(0, 3, 7), weights=3, zero_points=(2, 5), constants=(1, 4, 6, 7), make=matrix_products.qlinear_matmul
)
_CONV = _Kind(
    count=9, bytes=(0, 3, 7), weights=3, zero_points=(2, 5), constants=(1, 4, 6, 7, 8), make=convolutions.qlinear_conv
)
_KINDS: dict[tuple[str, str], _Kind] = {
    ("", "QLinearMatMul"): _MATMUL,
    (_MICROSOFT, "QLinearMatMul"): _MATMUL,
    (_MICROSOFT, "QGemm"): _Kind(
        count=9, bytes=(0, 3, 8), weights=3, zero_points=(2, 5), constants=(1, 4, 6, 7, 8), make=matrix_products.qgemm
    ),
    ("", "MatMulInteger"): _Kind(
        count=4, bytes=(0, 1), weights=1, zero_points=(2, 3), make=matrix_products.matmul_integer
    ),
    (_MICROSOFT, "MatMulIntegerToFloat"): _Kind(
        count=7, bytes=(0, 1), weights=1, zero_points=(4, 5), make=matrix_products.matmul_integer_to_float
    ),
    (_MICROSOFT, "DynamicQuantizeMatMul"): _Kind(
        count=5, bytes=(1,), weights=1, zero_points=(None, 3), make=matrix_products.dynamic_quantize_matmul
    ),
    ("", "QLinearConv"): _CONV,
    (_MICROSOFT, "QLinearConv"): _CONV,
    ("", "ConvInteger"): _Kind(count=4, bytes=(0, 1), weights=1, zero_points=(2, 3), make=convolutions.conv_integer),
}

_OTHERS = {
    "MatMul", "Gemm", "Conv", "ConvTranspose", "FusedMatMul", "FusedGemm", "FusedConv", "MatMulNBits", "Einsum",
    "Attention", "QAttention", "MultiHeadAttention", "LSTM", "GRU", "RNN", "DynamicQuantizeLSTM",
}  # fmt: skip
"""Operators that compute products in ways that the engine does not."""


def is_product(node: NodeProto) -> bool:
    """True if `node` computes products, on the engine or not."""
    return (domain(node), node.op_type) in _KINDS or node.op_type in _OTHERS


def in_float(node: NodeProto) -> bool:
    """True if `node` computes products of other numbers than integers of 8 bits: see `left_in_float`."""
    return is_product(node) and (domain(node), node.op_type) not in _KINDS


def reason_for_host(graph: Graph, node: NodeProto) -> str | None:
    """Why `node` stays with the host; None where the engine takes it."""
    kind = _KINDS.get((domain(node), node.op_type))
    if kind is None:
        return "it is computed in float" if in_float(node) else "not a product"
    for place in kind.bytes:
        name = node.input[place] if place < len(node.input) else ""
        found = graph.type_of(name)
        if name and found is not None and found not in _BYTES:
            return f"{name!r} must be of int8 or uint8 and is {found.name}"
    if node.op_type == "QGemm":
        return matrix_products.qgemm_reason(node)
    if "Conv" in node.op_type:
        return convolutions.convolution_reason(graph, node, node.input[kind.weights])
    return None


@dataclass(frozen=True, kw_only=True)
class Known:
    """Known before a model runs: whether B is, and the zero points of A and B."""

    b: bool
    a_zero_point: bool
    b_zero_point: bool


def known(node: NodeProto, constants: Collection[str]) -> Known:
    """The parameters of `node` that are known before the model runs, given the constant tensors `constants`."""
    kind = _KINDS[domain(node), node.op_type]
    a, b = (place is not None and _is_known(node, place, constants) for place in kind.zero_points)
    return Known(b=_is_known(node, kind.weights, constants), a_zero_point=a, b_zero_point=b)


def computed_parameter(node: NodeProto, constants: Collection[str]) -> str | None:
    """The first scale, bias or zero point of Y of `node` that jobs must have before the model runs, and is computed."""
    kind = _KINDS[domain(node), node.op_type]
    return next((node.input[place] for place in kind.constants if not _is_known(node, place, constants)), None)


def _is_known(node: NodeProto, place: int, constants: Collection[str]) -> bool:
    """True if that input is constant or omitted."""
    return place >= len(node.input) or not node.input[place] or node.input[place] in constants


def asked_of_engine(node: NodeProto, tensors: Mapping[str, Array]) -> Asked:
    """The request of `node`, which the engine takes, for the arrays of its inputs."""
    kind = _KINDS[domain(node), node.op_type]
    names = [*node.input, *[""] * (kind.count - len(node.input))]
    return kind.make(node, [tensors[name] if name else None for name in names])
