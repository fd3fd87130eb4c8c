"""Scales of a model that are zero, negative, infinite or NaN, by the names of their tensors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..odd_scales import ODD_RESULTS, odd_scales
from .graph import Graph
from .model import read_model
from .node import NotTakenError, label

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["model_scale_notes"]

_PLACES = {
    "QuantizeLinear": (1,), "DequantizeLinear": (1,), "QLinearConv": (1, 4, 6), "QLinearMatMul": (1, 4, 6),
    "QGemm": (1, 4, 7), "QLinearAdd": (1, 4, 6), "QLinearMul": (1, 4, 6), "QLinearSigmoid": (1, 3),
    "QLinearLeakyRelu": (1, 3), "QLinearSoftmax": (1, 3), "QLinearAveragePool": (1, 3),
    "QLinearGlobalAveragePool": (1, 3), "DynamicQuantizeMatMul": (2,), "MatMulIntegerToFloat": (2, 3),
}  # fmt: skip
"""Inputs of operators that are scales."""


def model_scale_notes(path: str | Path) -> list[str]:
    """A note for each constant scale of the ONNX model in the file `path` that is not positive and finite: its tensor,
    the first node that takes it, and the channels.
    """
    path = Path(path)
    graph = Graph(read_model(path), path.parent)
    takers: dict[str, NodeProto] = {}
    for node in graph.graph.node:
        for name in _scales(node):
            takers.setdefault(name, node)
    notes = []
    for name, node in takers.items():
        odd = _odd(graph, name)
        if odd is not None:
            notes.append(f"the scale {name!r} of {label(node)} {odd}: {ODD_RESULTS}")
    return notes


def _scales(node: NodeProto) -> list[str]:
    places = range(0, len(node.input), 3) if node.op_type == "QLinearConcat" else _PLACES.get(node.op_type, ())
    return [node.input[place] for place in places if place < len(node.input) and node.input[place]]


def _odd(graph: Graph, name: str) -> str | None:
    if not graph.is_constant(name):
        return None
    try:
        return odd_scales(graph.constant(name, "a scale"))
    except NotTakenError:  # of a type that no scale can have, which those say that read the node
        return None
