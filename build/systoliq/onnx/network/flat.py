"""Flat tensors: tensors of one image without a batch of 1 in front, [rows, columns] in the model, which golden has as
[1, rows, columns].

Quantizers write a MatMul of three dimensions as Reshape, Gemm, Reshape, and PyTorch's attention transposes [1, rows,
columns] to [rows, 1, columns]. In between, only operators are allowed that move elements, or that work row by row or
element by element.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from systoliq.golden.network import Tensor
from systoliq.golden.network.moves import Chain, Movement, Reshape, Transpose, moved_shape

from ..graph import Graph
from ..node import NotTakenError
from ..operator import Operator
from .values import Pending, Real, Value

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["check_flat", "is_flat", "of_flat", "settled", "state_shape", "turned"]


def is_flat(graph: Graph, name: str, shape: tuple[int, ...]) -> bool:
    """True if the tensor `name`, of this `shape` in golden, has no batch dimension of its own in the model."""
    known = graph.shape(name)
    return known is not None and known[:1] != [1] and shape[:1] == (1,) and list(shape[1:]) == known


def state_shape(graph: Graph, node: NodeProto, values: Mapping[str, Value]) -> None:
    """State the shapes of the node's results that onnx does not infer, as behind a Reshape whose shape is computed.

    `values` are those before and behind `node`, which keeps the dimensions before its rows.
    """
    flat = any(is_flat(graph, name, shape) for name in node.input if (shape := _shape(values.get(name))))
    for name in node.output:
        shape, known = _shape(values.get(name)), graph.shape(name)
        if shape and (known is None or not all(isinstance(size, int) for size in known)):
            graph.state_shape(name, shape[flat:])


def _shape(value: Value | None) -> tuple[int, ...]:
    """The shape in golden of integers, and of what stands for them."""
    if isinstance(value, Real):
        return value.tensor.shape
    return value.shape if isinstance(value, Tensor | Pending) else ()


def check_flat(graph: Graph, operator: Operator, name: str, value: Value | None) -> None:
    """Raise NotTakenError if `operator` takes the flat tensor `name` and would take its rows for images."""
    shape = _shape(value)
    if not operator.by_row and is_flat(graph, name, shape):
        raise NotTakenError(
            f"its input {name!r} must have the batch, 1, as its first dimension, not the shape {list(shape[1:])}: "
            "reshape it back first"
        )


def turned(graph: Graph, name: str, perm: tuple[int, ...], shape: tuple[int, ...], *, flat: bool) -> Movement:
    """The movement of a Transpose by `perm` to the tensor `name`, from one of this `shape` in golden.

    It may move the batch, if that is 1: the result is then flat, and it is a Reshape if only dimensions of 1 move.
    """
    model = shape[flat:]
    if sorted(perm) != list(range(len(model))) or not (flat or (perm[0] and shape[0] == 1)):
        return Transpose(perm)
    made = tuple(model[axis] for axis in perm)
    graph.state_shape(name, made)
    if not flat and made[0] == 1:  # the batch changes places with another dimension of 1
        swapped = {0: perm[0], perm[0]: 0}
        return Transpose(tuple(swapped.get(axis, axis) for axis in perm))
    moving = [axis for axis in perm if model[axis] != 1]
    if moving == sorted(moving):
        return Reshape(made[made[0] == 1 :])
    return settled(Transpose((0, *(axis + flat for axis in perm if axis + flat))), shape, made)


def of_flat(made: tuple[int, ...]) -> tuple[int, ...]:
    """The shape in golden of a tensor that has the shape `made` in the model, of one image."""
    if len(made) < 2:
        raise NotTakenError(f"its result must have at least two dimensions, not the shape {list(made)}")
    return made if made[0] == 1 else (1, *made)


def settled(movement: Movement, shape: tuple[int, ...], made: tuple[int, ...]) -> Movement:
    """`movement` of a tensor of this `shape` in golden, where the model's result has the shape `made`."""
    golden = of_flat(made)
    if moved_shape(shape, [movement]) == golden:
        return movement
    return Chain((movement, Reshape(golden[1:])))
