"""Flat tensors: rows of one image, [rows, columns] in the model, which golden has as [1, rows, columns].

Quantizers write a MatMul of three dimensions as Reshape, Gemm, Reshape. In between, only operators that work row by
row, or element by element, are allowed.
"""

from __future__ import annotations

from systoliq.golden.network import Tensor

from ..graph import Graph
from ..node import NotTakenError
from ..operator import Operator
from .values import Pending, Real, Value

__all__ = ["check_flat", "is_flat"]


def is_flat(graph: Graph, name: str, shape: tuple[int, ...]) -> bool:
    """True if the tensor `name`, of this `shape` in golden, has no batch dimension of its own in the model."""
    known = graph.shape(name)
    return known is not None and known[:1] != [1] and shape[:1] == (1,) and list(shape[1:]) == known


def check_flat(graph: Graph, operator: Operator, name: str, value: Value | None) -> None:
    """Raise NotTakenError if `operator` takes the flat tensor `name` and would take its rows for images."""
    shape = value.tensor.shape if isinstance(value, Real) else ()
    if isinstance(value, Tensor | Pending):
        shape = value.shape
    if not operator.by_row and is_flat(graph, name, shape):
        raise NotTakenError(
            f"its input {name!r} must have the batch, 1, as its first dimension, not the shape {list(shape[1:])}: "
            "reshape it back first"
        )
