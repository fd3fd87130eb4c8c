"""Rows: tensors [batch, channels, length], of one spatial dimension, as images of one row.

    x [batch, C, L]  --Reshape-->  x: row [batch, C, 1, L]  -- convolution, pool, ... -->  y: row  --Reshape-->  y

The reshapes change no order, so they take no hardware.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING

from systoliq.golden.network import Addition, Concatenation, Move, Multiplication, Node, RealPair, Reshape, Tensor

from ..node import NotTakenError
from .quantizers import named
from .reader import Reader
from .values import Make

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["as_image", "joins_of_images", "lowered", "outer_shape"]


def as_image(reader: Reader, node: NodeProto, x: Tensor) -> Tensor:
    """The tensor `x` where it is an image, or the row that it is. Raises NotTakenError if it is neither."""
    if len(x.shape) not in (3, 4):
        raise NotTakenError(
            "its input must have the shape [batch, channels, rows, columns] or [batch, channels, length], not "
            f"{list(x.shape)}"
        )
    if len(x.shape) == 4:
        return x
    row = _lifted(x)
    if not reader.makes(row.name):
        reader.emit(node, (_raised(named(node), x, row),))
    return row


def lowered(node: NodeProto, x: Tensor, shape: tuple[int, ...], make: Make) -> tuple[tuple[int, ...], Make]:
    """The `shape` of an image and what makes it; without its one row where the model's own input `x` has none."""
    outer = outer_shape(x, shape)
    return outer, make if outer == shape else lambda y: (*make(_lifted(y)), _lowering(named(node), y))


def outer_shape(x: Tensor, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the `shape` of an image without its one row, if the model's own input `x` has none."""
    return shape if len(x.shape) == len(shape) else (*shape[:2], shape[3])


def joins_of_images(nodes: tuple[Node, ...], rows: set[str]) -> Iterator[Node]:
    """`nodes`, those that join tensors of different shapes or with constants as joins of images, if they make one of
    `rows`.
    """
    made: set[str] = set()
    for node in nodes:
        if node.output.name not in rows or not _differ(node):
            if node.output.name not in made:
                made.add(node.output.name)
                yield node
            continue
        for index, x in enumerate(node.inputs):
            row = _lifted(x)
            if x.value is None and row.name not in made:
                made.add(row.name)
                yield _raised(f"{node.name}: input {index}" if index else node.name, x, row)
        made |= {node.output.name, _lifted(node.output).name}
        inputs, output = tuple(map(_lifted, node.inputs)), _lifted(node.output)
        if isinstance(node, Concatenation):
            yield dataclasses.replace(node, inputs=inputs, output=output, axis=node.axis + (node.axis == 2))
        else:
            yield dataclasses.replace(node, inputs=inputs, output=output)
        yield _lowering(node.name, node.output)


def _differ(node: Node) -> bool:
    if isinstance(node, Concatenation):
        return True
    shapes = {x.shape for x in node.inputs}
    constant = any(x.value is not None for x in node.inputs)
    return isinstance(node, Addition | Multiplication | RealPair) and (constant or len(shapes) > 1)


def _lifted(x: Tensor) -> Tensor:
    """`x`, of three dimensions or fewer, with a dimension of 1 before its last, as an image of one row has it."""
    if not x.shape:
        return x
    shape = (*x.shape[:-1], 1, x.shape[-1])
    if x.value is not None:
        return x.replace(shape=shape, value=x.value.reshape(shape))
    return x.replace(name=f"{x.name}: row", shape=shape)


def _raised(name: str, x: Tensor, row: Tensor) -> Move:
    return Move(name=f"{name}: row", inputs=(x,), output=row, movement=Reshape(row.shape[1:]))


def _lowering(name: str, y: Tensor) -> Move:
    return Move(name=f"{name}: no row", inputs=(_lifted(y),), output=y, movement=Reshape(y.shape[1:]))
