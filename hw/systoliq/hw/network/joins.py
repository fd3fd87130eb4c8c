"""Joins: stages that take several streams, and constants as one of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from amaranth.lib import wiring

from systoliq.golden import network
from systoliq.golden.network.sum_tables import SumTables

from ..operand_shape import operand_shape
from .addition import SumOfTables
from .concatenation import Concatenation, Part
from .constants import Constants
from .multiplication import SteppedProduct
from .pairwise import Pairwise
from .rate import Parallelism, common_channels, steps_of
from .recipe import Recipe
from .repeated import Repeated

__all__ = ["addition", "concatenation", "constant_elements", "constants_of", "multiplication", "single_pixel"]


def addition(node: network.Addition, how: Recipe) -> wiring.Component:
    """Two tables and a sum."""
    tables = SumTables.of(_all_pairs(node), node.output.format)
    if tables is None:
        raise ValueError("no two tables give its sums exactly")
    operand = node.inputs[0].format

    def lane(kind: str) -> SumOfTables:
        return SumOfTables(tables, operand, cells=how.cells, kind=kind)

    return _repeated(_pairwise(lane, node, how), node, how)


def concatenation(node: network.Concatenation, how: Recipe) -> Concatenation:
    """Pixel after pixel, the channels of all inputs."""
    axis = _channel_axis(node)
    if node.axis != axis:
        raise ValueError(f"axis must be that of the channels, {axis} of {list(node.output.shape)}, not {node.axis}")
    lanes = how.lanes(common_channels(node))
    parts = [
        Part(tensor.format, tensor.channels // lanes, None if entries is None else entries.tolist())
        for tensor, entries in zip(node.inputs, node.tables, strict=True)
    ]
    return Concatenation(parts, node.output.format, lanes=lanes, cells=how.cells, kind=how.kind)


def multiplication(node: network.Multiplication, how: Recipe) -> wiring.Component:
    """A product, and the steps of its rescaling."""
    a, b = node.inputs

    def lane(kind: str) -> SteppedProduct:
        points = a.zero_point, b.zero_point
        return SteppedProduct(steps_of(node), a.format, points, cells=how.cells, lane_cells=how.lane_cells, kind=kind)

    return _repeated(_pairwise(lane, node, how), node, how)


def _pairwise(
    lane: Callable[[str], SumOfTables | SteppedProduct], node: network.Addition | network.Multiplication, how: Recipe
) -> Pairwise:
    """As many lanes as the stage has, each made of its kind."""
    kind = _core_kind(node, how)
    lanes = [lane(f"{kind}_lane") for _ in range(how.lanes(common_channels(node)))]
    return Pairwise(lanes, node.inputs[0].format, node.output.format, cells=how.cells, kind=kind)


def constants_of(node: network.Node, index: int, parallelism: Parallelism, *, cells: str, kind: str) -> Constants:
    """The constant input ``index`` of a node as a stream, in the order in which the other ones come."""
    elements, lanes = constant_elements(node, index, parallelism), parallelism.cols
    return Constants(elements, operand_shape(node.inputs[index].format), lanes=lanes, cells=cells, kind=kind)


def constant_elements(node: network.Node, index: int, parallelism: Parallelism) -> list[int]:
    """As few elements as make the constant input ``index`` when they come again and again."""
    tensor = node.inputs[index]
    if not isinstance(node, network.Concatenation):
        tensor = tensor.replace(shape=(1, *node.output.shape[1:]), value=None)
    whole = np.broadcast_to(np.asarray(node.inputs[index].value), (1, *tensor.shape[1:]))
    elements = tensor.raster(whole).reshape(-1)
    lanes = parallelism.cols
    periods = [p for p in range(lanes, len(elements) + 1, lanes) if len(elements) % p == 0]
    period = next(p for p in periods if (elements.reshape(-1, p) == elements[:p]).all())
    found: list[int] = elements[:period].tolist()
    return found


def single_pixel(node: network.Node) -> int | None:
    """Which of two computed inputs is one pixel for all of the output's; None where both are of one shape.

    Raises ValueError for all other shapes.
    """
    a, b = node.inputs
    if a.value is not None or b.value is not None or a.shape == b.shape:
        return None
    one = tuple(size if axis in (0, _channel_axis(node)) else 1 for axis, size in enumerate(node.output.shape))
    for index, (single, whole) in enumerate(((a, b), (b, a))):
        if single.shape == one and whole.shape == node.output.shape:
            return index
    raise ValueError(
        f"both operands must be of one shape, or one of them a pixel {list(one)}, not {list(a.shape)} and "
        f"{list(b.shape)}"
    )


def _channel_axis(node: network.Node) -> int:
    """Of the output, and of inputs of as many dimensions."""
    return 1 if len(node.output.shape) == 4 else len(node.output.shape) - 1


def _core_kind(node: network.Node, how: Recipe) -> str:
    return how.kind if single_pixel(node) is None else "join"


def _repeated(core: Pairwise, node: network.Node, how: Recipe) -> wiring.Component:
    index = single_pixel(node)
    if index is None:
        return core
    beats = node.output.channels // how.parallelism.cols
    return Repeated(core, index=index, beats=beats, times=node.output.pixels, cells=how.cells, kind=how.kind)


def _all_pairs(node: network.Addition) -> npt.NDArray[Any]:
    """The sums of all pairs of codes, [256, 256]."""
    tensors = [tensor.replace(shape=(1, 256, 256), value=None) for tensor in (*node.inputs, node.output)]
    codes = tensors[0].codes
    a, b = np.broadcast_arrays(codes[None, :, None], codes[None, None, :])
    found: npt.NDArray[Any] = dataclasses.replace(node, inputs=tuple(tensors[:2]), output=tensors[2]).apply(a, b)[0]
    return found
