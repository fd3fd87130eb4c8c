"""Flat tensors: rows of one image, [rows, columns] in the model, which golden has as [1, rows, columns].

Quantizers write a MatMul of three dimensions as Reshape, Gemm, Reshape. In between, only operators that work row by
row, or element by element, are allowed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from systoliq.golden.network import Tensor

from ..graph import Graph
from ..node import NotTakenError
from .values import Pending, Real, Value

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["check_flat", "is_flat"]

_ROW_BY_ROW = (
    "QuantizeLinear", "DequantizeLinear", "Gemm", "MatMul", "Reshape", "Squeeze", "Unsqueeze", "Identity", "Dropout",
    "Add", "Sub", "Mul", "Div", "Relu", "Clip", "LeakyRelu", "ThresholdedRelu", "Elu", "Selu", "Softplus", "Softsign",
    "Mish", "Gelu", "Erf", "Exp", "Pow", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish", "Abs", "Neg", "Sqrt",
    "Reciprocal", "Floor", "Ceil", "Round", "Sign", "Softmax", "LayerNormalization",
)  # fmt: skip


def is_flat(graph: Graph, name: str, shape: tuple[int, ...]) -> bool:
    """True if the tensor `name`, of this `shape` in golden, has no batch dimension of its own in the model."""
    known = graph.shape(name)
    return known is not None and known[:1] != [1] and shape[:1] == (1,) and list(shape[1:]) == known


def check_flat(graph: Graph, node: NodeProto, name: str, value: Value | None) -> None:
    """A NotTakenError where `node` takes the flat tensor `name`, and would take its rows for images."""
    shape = value.tensor.shape if isinstance(value, Real) else ()
    if isinstance(value, Tensor | Pending):
        shape = value.shape
    if node.op_type not in _ROW_BY_ROW and is_flat(graph, name, shape):
        raise NotTakenError(
            f"its input {name!r} must have the batch, 1, as its first dimension, not the shape {list(shape[1:])}: "
            "reshape it back first"
        )
