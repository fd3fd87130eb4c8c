"""Verdicts on the nodes of a model that is read as a network: what becomes of each, and what not and why."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from systoliq.golden.network import Node

from ..graph import Graph
from ..node import takes_transposed_b

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["Fate", "Verdict", "multiply_accumulates"]


class Fate(enum.Enum):
    """Result of reading a node."""

    STAGE = "stage"
    FOLDED = "folded"
    HOST = "host"
    REFUSED = "not taken"


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The fate of the node `name`, an `operator`.

    `stages` are what it becomes; `text` says into what it is folded, what the host does, or the reason why it is not
    taken. `shape` is its result's shape, if the model states it; `multiply_accumulates` is for one batch of the graph's
    inputs, None where unknown. `derived`: it is not taken only because a node before it is not.
    """

    name: str
    operator: str
    fate: Fate
    text: str
    shape: tuple[int | str | None, ...] | None
    multiply_accumulates: int | None
    stages: tuple[Node, ...] = ()
    derived: bool = False


def multiply_accumulates(graph: Graph, node: NodeProto) -> int | None:
    """Products of a convolution or matrix product by the shapes that the model states; 0 of operators without any."""
    if node.op_type in _UNCOUNTED:
        return None
    weights = _WEIGHTS.get(node.op_type)
    if weights is None or len(node.input) <= weights:
        return 0
    outputs, w = graph.shape(node.output[0]), graph.shape(node.input[weights])
    if outputs is None or not w or not all(isinstance(size, int) for size in (*outputs, *w)):
        return None
    if "Conv" in node.op_type:
        depth = int(np.prod(w[1:]))  # type: ignore[arg-type]
    else:
        depth = int(w[-1 if takes_transposed_b(node) else -2 if len(w) > 1 else 0])  # type: ignore[arg-type]
    return int(np.prod(outputs)) * depth  # type: ignore[arg-type]


_WEIGHTS = {
    "Conv": 1, "Gemm": 1, "MatMul": 1, "FusedConv": 1, "FusedMatMul": 1, "FusedGemm": 1,
    "ConvInteger": 1, "MatMulInteger": 1, "QLinearConv": 3, "QLinearMatMul": 3, "QGemm": 3,
    "DynamicQuantizeMatMul": 1, "MatMulIntegerToFloat": 1, "ConvIntegerToFloat": 1, "MatMulInteger16": 1,
}  # fmt: skip
_UNCOUNTED = (
    "ConvTranspose", "DeformConv", "Einsum", "RNN", "GRU", "LSTM", "Attention", "QAttention", "MultiHeadAttention",
    "DynamicQuantizeLSTM", "QOrderedMatMul", "QOrderedAttention", "MoE", "QMoE",
    "MatMulNBits", "MatMulBnb4", "MatMulFpQ4", "If", "Loop", "Scan",
)  # fmt: skip
