"""Quantization of a model as a whole: whether any of its nodes works on integers, and why there is none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .functions import all_nodes
from .graph import Graph
from .node import domain, label

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["dynamic", "integral", "is_float", "unquantized"]

_LISTED = 5  # operators in a reason
_INTEGRAL = re.compile(r"Q[A-Z]\w*|\w*[Qq]uant\w*|\w*Integer\w*")
_OF_WEIGHTS = ("MatMulNBits", "MatMulBnb4", "MatMulFpQ4")  # quantized in blocks; they compute in float
_DYNAMIC = ("DynamicQuantizeLinear", "DynamicQuantizeMatMul", "DynamicQuantizeLSTM")
_QONNX = re.compile(r"qonnx\.|finn\.|onnx\.brevitas")
_TRAINED = re.compile(r"\w*(Conv|MatMul|Gemm|Attention|RNN|LSTM|GRU|Einsum)\w*")

_FLOAT = (
    "must be quantized, not float: none of its nodes works on integers; quantize it by systoliq quantize FILE.onnx "
    "--data CALIBRATION.npz --out INT8.onnx, see docs/onnx.md"
)


def integral(node: NodeProto) -> bool:
    """True if the operator of `node` has quantized inputs or outputs, by its name, in ONNX's or another domain."""
    return _INTEGRAL.fullmatch(node.op_type) is not None and not _of_qonnx(node)


def is_float(graph: Graph) -> bool:
    """Return whether `graph` has products, and nothing in it is quantized."""
    return unquantized(graph) == _FLOAT


def dynamic(graph: Graph) -> str | None:
    """Why `graph` is no network if all of its activations are quantized at run time; None if some are not."""
    nodes = [*all_nodes(graph.graph.node)]
    if any(node.op_type == "QuantizeLinear" for node in nodes):
        return None
    found = [node for node in nodes if node.op_type in _DYNAMIC]
    if not found:
        return None
    finds = f"and {len(found) - 1} more find" if len(found) > 1 else "finds"
    return (
        f"must be quantized statically, not dynamically: {label(found[0])} {finds} scales and zero points at run "
        "time; quantize its float model by systoliq quantize, run its products on the engine by systoliq run "
        "FILE.onnx, or take one product as FILE.onnx#NODE"
    )


def unquantized(graph: Graph) -> str | None:
    """Why `graph` has nothing for integer hardware, nodes in bodies included; None where it may have something."""
    nodes = [*all_nodes(graph.graph.node)]
    if not nodes:
        return "must have at least one node in its graph, and has none"
    if any(integral(node) or node.op_type in _OF_WEIGHTS for node in nodes):
        return None
    if found := [node for node in nodes if _of_qonnx(node)]:
        return (
            f"must be quantized by QuantizeLinear and DequantizeLinear, not by {_named(found)}, which round float "
            "numbers; convert it first: pip install qonnx, qonnx-convert FILE.onnx"
        )
    if any(domain(node) in ("", "com.microsoft") and _TRAINED.fullmatch(node.op_type) for node in nodes):
        return _FLOAT
    kinds = [graph.type_of(info.name) for info in graph.graph.input]
    if any(kind is not None and kind.name in ("int8", "uint8") for kind in kinds):
        return None
    return f"must have an operator on integers, and has only {_named(nodes)}: see docs/networks.md"


def _of_qonnx(node: NodeProto) -> bool:
    return _QONNX.match(node.domain) is not None


def _named(nodes: Sequence[NodeProto]) -> str:
    """The operators of `nodes`, each once, with their domains."""
    names = [f"{node.op_type} of {node.domain}" if domain(node) else node.op_type for node in nodes]
    names = sorted(dict.fromkeys(names))
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {more} more" if more > 0 else "")
