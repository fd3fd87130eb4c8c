"""Slice, Split, Gather, Tile, Expand, DepthToSpace and SpaceToDepth by constants: which elements of a tensor they pick,
and in which order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from systoliq.golden.network.moves import Chain, Gather, Movement, Reshape, Transpose

from ..graph import Graph
from ..node import NotTakenError, attribute

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["PICKS", "split_gathers"]


def _slice(graph: Graph, node: NodeProto, shape: tuple[int, ...], *, flat: bool) -> Movement:
    """starts, ends, axes and steps as inputs, or, up to opset 9, as attributes."""
    starts, ends, axes, steps = (_numbers(graph, node, place, role) for place, role in enumerate(_SLICE, 1))
    if starts is None or ends is None:
        raise NotTakenError("starts and ends must be given")
    axes = list(range(len(starts))) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise NotTakenError("starts, ends, axes and steps must have as many numbers each")
    if 0 in steps:
        raise NotTakenError("steps must not be 0")
    gathers = []
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        axis = _axis(axis, shape, flat)
        gathers += _picked(shape, axis, range(shape[axis])[start:end:step])
    return _chained(gathers, shape)


_SLICE = ("starts", "ends", "axes", "steps")


def _gather(graph: Graph, node: NodeProto, shape: tuple[int, ...], *, flat: bool) -> Movement:
    axis = _axis(int(attribute(node, "axis", 0)), shape, flat)
    indices = graph.constant(node.input[1], "indices")
    size = shape[axis]
    if indices.size == 0 or indices.min() < -size or indices.max() >= size:
        raise NotTakenError(f"indices must be {-size} to {size - 1}, at least one, not {indices.reshape(-1).tolist()}")
    if axis == 0 and (indices.ndim != 1 or size != 1):
        raise NotTakenError("it must keep the batch as the first dimension")
    gathers = _picked(shape, axis, (indices.reshape(-1) % size).tolist())
    made = (*shape[:axis], *indices.shape, *shape[axis + 1 :])
    return _chained([*gathers, *([] if indices.ndim == 1 else [Reshape(made[1:])])], shape)


def _depth_to_space(graph: Graph, node: NodeProto, shape: tuple[int, ...], *, flat: bool) -> Movement:
    size, (_, channels, rows, columns) = _block(node, shape)
    if channels % size**2:
        raise NotTakenError(f"blocksize squared must divide the {channels} channels, not be {size}^2")
    made, mode = channels // size**2, attribute(node, "mode", b"DCR").decode()
    split, perm = (
        ((size, size, made), (0, 3, 4, 1, 5, 2)) if mode == "DCR" else ((made, size, size), (0, 1, 4, 2, 5, 3))
    )
    whole = Reshape((made, rows * size, columns * size))
    return Chain((Reshape((*split, rows, columns)), Transpose(perm), whole))


def _space_to_depth(graph: Graph, node: NodeProto, shape: tuple[int, ...], *, flat: bool) -> Movement:
    size, (_, channels, rows, columns) = _block(node, shape)
    if rows % size or columns % size:
        raise NotTakenError(f"blocksize must divide the {rows} rows and {columns} columns, not be {size}")
    split = Reshape((channels, rows // size, size, columns // size, size))
    whole = Reshape((channels * size**2, rows // size, columns // size))
    return Chain((split, Transpose((0, 3, 5, 1, 2, 4)), whole))


def _tile(graph: Graph, node: NodeProto, shape: tuple[int, ...], *, flat: bool) -> Movement:
    """All of an axis, several times."""
    repeats = graph.constant(node.input[1], "repeats").reshape(-1).tolist()
    rank = len(shape) - flat
    if len(repeats) != rank or min(repeats) < 1:
        raise NotTakenError(f"repeats must be {rank} positive numbers, one for each dimension, not {repeats}")
    return _repeated(shape, [1] * flat + repeats)


def _expand(graph: Graph, node: NodeProto, shape: tuple[int, ...], *, flat: bool) -> Movement:
    """The one slice of an axis of 1, several times."""
    wanted = graph.constant(node.input[1], "shape").reshape(-1).tolist()
    given = shape[flat:]
    wanted = [1] * (len(given) - len(wanted)) + wanted
    if len(wanted) > len(given) or any(1 not in pair and len({*pair}) > 1 for pair in zip(given, wanted, strict=True)):
        raise NotTakenError(f"shape must broadcast with {list(given)} without another dimension, not be {wanted}")
    wanted = [1] * flat + wanted
    return _repeated(shape, [most if size == 1 else 1 for size, most in zip(shape, wanted, strict=True)])


def _repeated(shape: tuple[int, ...], repeats: list[int]) -> Movement:
    """Each axis whole, repeated as `repeats` says."""
    indices = ([*range(size)] * times for size, times in zip(shape, repeats, strict=True))
    return _chained([each for axis, picked in enumerate(indices) for each in _picked(shape, axis, picked)], shape)


PICKS = {
    "Slice": _slice,
    "Gather": _gather,
    "Tile": _tile,
    "Expand": _expand,
    "DepthToSpace": _depth_to_space,
    "SpaceToDepth": _space_to_depth,
}
"""The movement of each operator on a tensor of a shape, whose first dimension the model does not have if it is `flat`;
NotTakenError where it is none of constants.
"""


def split_gathers(graph: Graph, node: NodeProto, shape: tuple[int, ...], *, flat: bool) -> list[Movement]:
    """The elements that each output of a Split picks. A `flat` tensor has no batch in the model, as in `PICKS`."""
    axis = _axis(int(attribute(node, "axis", 0)), shape, flat)
    parts, size = len(node.output), shape[axis]
    sizes = graph.constant(node.input[1], "split").tolist() if len(node.input) > 1 and node.input[1] else None
    sizes = list(attribute(node, "split", ())) if sizes is None else sizes
    if not sizes:
        each = -(-size // parts)
        sizes = [min(each, size - each * part) for part in range(parts)]
    if len(sizes) != parts or sum(sizes) != size or min(sizes) < 1:
        raise NotTakenError(f"split must be {parts} positive sizes that make {size}, not {sizes}")
    ends = [sum(sizes[: part + 1]) for part in range(parts)]
    pieces = [_picked(shape, axis, range(end - each, end)) for end, each in zip(ends, sizes, strict=True)]
    return [_chained(each, shape) for each in pieces]


def _picked(shape: tuple[int, ...], axis: int, indices: range | list[int]) -> list[Movement]:
    """The gather of `indices` along the axis; none where it picks all in their order."""
    if list(indices) == list(range(shape[axis])):
        return []
    if axis == 0:
        raise NotTakenError(f"it must keep the batch, {shape[0]}, whole")
    if not len(indices):
        raise NotTakenError(f"it must leave something of axis {axis}, which has {shape[axis]}")
    return [Gather(axis, tuple(indices))]


def _chained(movements: list[Movement], shape: tuple[int, ...]) -> Movement:
    if len(movements) > 1:
        return Chain(tuple(movements))
    return movements[0] if movements else Reshape(shape[1:])


def _numbers(graph: Graph, node: NodeProto, place: int, role: str) -> list[int] | None:
    name = node.input[place] if len(node.input) > place else ""
    found = graph.constant(name, role).reshape(-1).tolist() if name else attribute(node, role)
    return None if found is None else list(found)


def _axis(axis: int, shape: tuple[int, ...], flat: bool) -> int:
    rank = len(shape) - flat
    if not -rank <= axis < rank:
        raise NotTakenError(f"an axis must be one of the {rank} dimensions, not {axis}")
    return axis % rank + flat


def _block(node: NodeProto, shape: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    size = int(attribute(node, "blocksize", 0))
    if len(shape) != 4 or size < 1:
        raise NotTakenError(f"it must take [batch, channels, rows, columns] by a blocksize of at least 1, not {size}")
    return size, shape
