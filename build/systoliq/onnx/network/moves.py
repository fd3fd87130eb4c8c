"""Moves: Reshape, Flatten, Squeeze, Unsqueeze, Identity, Dropout, Transpose, Resize nearest, the operators of `PICKS`,
Split and Concat, on integers or between DequantizeLinear and QuantizeLinear; and Concat of com.microsoft.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from systoliq.golden.network import Concatenation, LinearResize, Move, Node, Reshape, Tensor
from systoliq.golden.network.moves import Movement, moved_shape

from ..node import RECURRENT, NotTakenError, attribute, is_operator, label
from .flat import is_flat, settled, turned
from .picks import PICKS, split_gathers
from .pools import on_integers
from .quantizers import constant_tensor, named, numbers_of, operand, result
from .reader import Reader, UnknownInputError
from .resize import is_linear, linear_of, nearest_of
from .values import Constant, Given, Make, Pending, Real, Result, Value

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["concat", "dropout", "move", "qlinear_concat", "resize", "split"]


def move(reader: Reader, node: NodeProto) -> Value:
    """Handler of all operators that only move elements."""
    value = reader.value(node.input[0])
    if isinstance(value, Given):
        return _given(reader, node, value)
    if isinstance(value, Pending) and value.counts is None:
        return _behind_sum(reader, node, value)
    x = reader.integers_behind(node.input[0])
    pending = _moved(node, named(node), x, _movement(reader, node, x.shape))
    return on_integers(reader, node, value, pending)


def resize(reader: Reader, node: NodeProto) -> Value:
    """Resize: a move, or a linear interpolation of what a DequantizeLinear gives."""
    value = reader.value(node.input[0])
    given = value.tensor.shape if isinstance(value, Real) else getattr(value, "shape", ())
    if not is_linear(reader.graph, node, given):
        return move(reader, node)
    if isinstance(value, Tensor):
        raise NotTakenError(
            "mode must be nearest between integers, not linear: put it behind a DequantizeLinear; linear Resize can be "
            "quantized in the QDQ format only"
        )
    rows, columns = linear_of(reader.graph, node, given)
    shape = (*given[:2], len(rows), len(columns))
    if isinstance(value, Given):
        return Given(name=value.name, origin=value.origin, shape=shape, movements=None)
    x = reader.tensor(node.input[0])

    def make(y: Tensor) -> tuple[Node, ...]:
        return (LinearResize(name=named(node), inputs=(x,), output=y, rows=rows, columns=columns),)

    return Pending(node=node, shape=shape, make=make)


def split(reader: Reader, node: NodeProto) -> Value:
    """Each output as a Slice gives it."""
    value = reader.value(node.input[0])
    x = reader.integers_behind(node.input[0])
    found: list[Value] = []
    flat = is_flat(reader.graph, node.input[0], x.shape)
    for name, gathered in zip(node.output, split_gathers(reader.graph, node, x.shape, flat=flat), strict=True):
        movement = _settled(reader, name, gathered, x.shape, flat=flat)
        pending = _moved(node, f"{named(node)}: {name}", x, movement)
        found.append(on_integers(reader, node, value, pending, name))
    reader.values.update(zip(node.output[1:], found[1:], strict=True))
    return found[0]


def _moved(node: NodeProto, name: str, x: Tensor, movement: Movement) -> Pending:
    """The integers `x`, moved by an operator of this name."""

    def make(y: Tensor) -> tuple[Node, ...]:
        return (Move(name=name, inputs=(x,), output=y, movement=movement),)

    return Pending(node=node, shape=moved_shape(x.shape, [movement]), make=make, counts=x)


def dropout(reader: Reader, node: NodeProto) -> Value:
    """Outside of training its input as it is."""
    if len(node.output) > 1 and node.output[1]:
        raise NotTakenError(f"it must have one output, not also the mask {node.output[1]!r}")
    if len(node.input) > 2 and node.input[2] and reader.graph.flag(node.input[2], "training_mode"):
        raise NotTakenError("training_mode must be false, not true")
    return move(reader, node)


def _given(reader: Reader, node: NodeProto, value: Given) -> Value:
    """Numbers that the host moves before it quantizes them."""
    movement = _movement(reader, node, value.shape)
    before = value.movements
    return Given(
        name=value.name,
        origin=value.origin,
        shape=moved_shape(value.shape, [movement]),
        movements=None if before is None else (*before, movement),
    )


def _behind_sum(reader: Reader, node: NodeProto, value: Pending) -> Pending:
    """A result that is moved before it is quantized: it is quantized first, which is the same."""
    movement = _movement(reader, node, value.shape)
    reader.expect_one_use(node.input[0])

    def moved(make: Make) -> Make:
        def both(y: Tensor) -> tuple[Node, ...]:
            inner = y.replace(name=node.input[0], shape=value.shape)
            return (*make(inner), Move(name=named(node), inputs=(inner,), output=y, movement=movement))

        return both

    reader.fold(node, value.node)
    return Pending(
        node=value.node,
        shape=moved_shape(value.shape, [movement]),
        make=moved(value.make),
        real=None if value.real is None else moved(value.real),
        clamps=value.clamps,
        followers=value.followers + 1,
    )


def _movement(reader: Reader, node: NodeProto, shape: tuple[int, ...]) -> Movement:
    """The movement of `node` for an input of this `shape` in golden.

    A Reshape, Squeeze or Unsqueeze of a batch of 1 may make rows of one image the first dimension, as quantizers write
    a MatMul of three dimensions as a Gemm: golden keeps the batch before them (see `flat`).
    """
    graph, kind = reader.graph, node.op_type
    flat = is_flat(graph, node.input[0], shape)
    model_shape = shape[flat:]
    if kind == "Transpose":
        perm = tuple(attribute(node, "perm", range(len(model_shape))[::-1]))
        users = graph.consumers(node.output[0])
        if perm[0] and users and all(is_operator(user, *RECURRENT) for user in users):
            raise UnknownInputError(f"its result goes to {label(users[0])}, which is not taken")
        return turned(graph, node.output[0], perm, shape, flat=flat)
    if kind == "Resize":
        return nearest_of(graph, node, shape)
    if kind in PICKS:
        return _settled(reader, node.output[0], PICKS[kind](graph, node, shape, flat=flat), shape, flat=flat)
    if kind in ("Identity", "Dropout"):
        return Reshape(shape[1:])
    if kind == "Flatten":
        axis = int(attribute(node, "axis", 1)) % len(model_shape)
        target: tuple[int, ...] = (int(np.prod(model_shape[:axis])), int(np.prod(model_shape[axis:])))
    else:
        numbers = numbers_of(graph, node, "its shape" if kind == "Reshape" else "its axes")
        target = _SHAPES[kind](node, model_shape, numbers)
    graph.state_shape(node.output[0], target)
    if target[:1] != (1,) and shape[0] == 1 and (flat or kind != "Flatten"):
        return Reshape(target)
    if target[:1] != shape[:1]:
        raise NotTakenError(f"it must keep the batch, {shape[0]}, as the first dimension, not give {list(target)}")
    return Reshape(target[1:])


def _settled(reader: Reader, name: str, movement: Movement, shape: tuple[int, ...], *, flat: bool) -> Movement:
    """`movement`, whose result `name` in the model has no batch before it if it is `flat`."""
    if not flat:
        return movement
    made = moved_shape(shape, [movement])[1:]
    reader.graph.state_shape(name, made)
    return settled(movement, shape, made)


def _reshaped(node: NodeProto, shape: tuple[int, ...], numbers: list[int]) -> tuple[int, ...]:
    copied = not attribute(node, "allowzero", 0)
    sizes = [shape[i] if size == 0 and copied and i < len(shape) else size for i, size in enumerate(numbers)]
    rest = int(np.prod([size for size in sizes if size != -1]))
    total = int(np.prod(shape))
    target = tuple(total // max(1, rest) if size == -1 else size for size in sizes)
    if int(np.prod(target)) != total:
        raise NotTakenError(f"its shape must keep the {total} elements of {list(shape)}, not be {list(numbers)}")
    return target


def _squeezed(node: NodeProto, shape: tuple[int, ...], axes: list[int] | None) -> tuple[int, ...]:
    gone = {i for i, size in enumerate(shape) if size == 1} if axes is None else {a % len(shape) for a in axes}
    return tuple(size for i, size in enumerate(shape) if i not in gone)


def _unsqueezed(node: NodeProto, shape: tuple[int, ...], axes: list[int]) -> tuple[int, ...]:
    rank = len(shape) + len(axes)
    new = {axis % rank for axis in axes}
    old = iter(shape)
    return tuple(1 if i in new else next(old) for i in range(rank))


_SHAPES: dict[str, Callable[..., tuple[int, ...]]] = {
    "Reshape": _reshaped,
    "Squeeze": _squeezed,
    "Unsqueeze": _unsqueezed,
}


def concat(reader: Reader, node: NodeProto) -> Value:
    """On integers, or on what DequantizeLinears give; where these count alike, integers stay as they are."""
    values = [reader.value(name) for name in node.input]
    if any(isinstance(value, Result) for value in values):
        raise NotTakenError("its inputs must all come from integers")
    if any(isinstance(value, Tensor) for value in values):
        given = [reader.integers(name) for name in node.input]
        parts = tuple(given[0].replace(name=part.name, shape=part.shape) for part in given)  # there are no scales
    else:
        parts = tuple(
            constant_tensor(reader.graph, name) if isinstance(value, Constant) else reader.tensor(name)
            for name, value in zip(node.input, values, strict=True)
        )
    shape, make = _concatenation(reader, node, node.input, parts)
    alike = all(part.counts_as(parts[0]) for part in parts)
    pending = Pending(node=node, shape=shape, make=make, counts=parts[0] if alike else None)
    return on_integers(reader, node, values[0], pending)


def qlinear_concat(reader: Reader, node: NodeProto) -> Value:
    """Inputs: y_scale, y_zero_point, then x, x_scale, x_zero_point of each."""
    parts = tuple(operand(reader, node, place, f"input {place}") for place in range(2, len(node.input), 3))
    shape, make = _concatenation(reader, node, node.input[2::3], parts)
    y = result(reader, node, shape, 0)
    reader.emit(node, make(y))
    return y


def _concatenation(
    reader: Reader, node: NodeProto, names: Sequence[str], parts: tuple[Tensor, ...]
) -> tuple[tuple[int, ...], Make]:
    if not parts:
        raise NotTakenError("it must have at least one input")
    flat = any(is_flat(reader.graph, name, part.shape) for name, part in zip(names, parts, strict=True))
    if len({len(part.shape) for part in parts}) > 1:
        shapes = ", ".join(str(reader.graph.shape(name)) for name in names)
        way_out = ": transpose the batch of 1 back first" if flat else ""
        raise NotTakenError(
            f"its inputs must all have the batch as the first dimension, or none, not {shapes}{way_out}"
        )
    rank = len(parts[0].shape)
    axis = int(attribute(node, "axis", 1)) % (rank - flat) + flat
    shape = tuple(sum(part.shape[i] for part in parts) if i == axis else parts[0].shape[i] for i in range(rank))
    return shape, lambda y: (Concatenation(name=named(node), inputs=parts, output=y, axis=axis),)
