"""Pad: a constant around images and rows is the padding of a depthwise convolution of 1 x 1 that changes nothing; other
modes repeat pixels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import Convolution, Move, Nearest, Node, Tensor, Window

from ..node import NotTakenError, attribute, layer_name
from .functions import given_constant
from .pools import on_integers
from .quantizers import named, numbers_of
from .reader import Reader
from .rows import as_image, lowered
from .values import Given, Pending, Value

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["pad"]


def pad(reader: Reader, node: NodeProto) -> Value:
    """Pad of integers, or of a DequantizeLinear's result; before the first integers, the host computes it."""
    value = reader.value(node.input[0])
    if isinstance(value, Given):
        sizes = [
            size + sum(ends) for size, ends in zip(value.shape, _ends(reader, node, len(value.shape)), strict=True)
        ]
        return Given(name=value.name, origin=value.origin, shape=tuple(sizes), movements=None)
    x = reader.integers_behind(node.input[0])
    image = as_image(reader, node, x)
    batch, channels, *ends = _ends(reader, node, len(x.shape))
    if any((*batch, *channels)) or min(min(each) for each in ends) < 0:
        raise NotTakenError(
            "its pads must be at least 0, and 0 for the batch and the channels, not "
            f"{[first for first, _ in (batch, channels, *ends)] + [last for _, last in (batch, channels, *ends)]}"
        )
    (top, bottom), (left, right) = ends if len(ends) == 2 else ((0, 0), *ends)
    shape = (*image.shape[:2], image.shape[2] + top + bottom, image.shape[3] + left + right)
    mode = attribute(node, "mode", b"constant").decode()
    fill = _fill(reader, node, x, real=not isinstance(value, Tensor)) if mode == "constant" else 0

    def make(y: Tensor) -> tuple[Node, ...]:
        if mode == "constant":
            return (_padded(named(node), image, y, (top, left, bottom, right), fill),)
        places = [
            tuple(np.pad(np.arange(size), each, mode=mode).tolist())
            for size, each in zip(image.shape[2:], ((top, bottom), (left, right)), strict=True)
        ]
        return (Move(name=named(node), inputs=(image,), output=y, movement=Nearest(*places)),)

    padded, lowers = lowered(node, x, shape, make)
    return on_integers(reader, node, value, Pending(node=node, shape=padded, make=lowers, counts=x))


def _ends(reader: Reader, node: NodeProto, rank: int) -> list[tuple[int, int]]:
    """Elements before and behind, for each of `rank` dimensions."""
    graph = reader.graph
    pads = numbers_of(graph, node, "its pads") if len(node.input) > 1 else attribute(node, "pads", ())
    axes = list(range(rank))
    if len(node.input) > 3 and node.input[3]:
        axes = [axis % rank for axis in graph.constant(node.input[3], "its axes").reshape(-1).tolist()]
    if pads is None or len(pads) != 2 * len(axes):
        raise NotTakenError(f"its pads must be {2 * len(axes)} numbers, not {pads}")
    found = dict(zip(axes, zip(pads[: len(axes)], pads[len(axes) :], strict=True), strict=True))
    return [found.get(axis, (0, 0)) for axis in range(rank)]


def _fill(reader: Reader, node: NodeProto, x: Tensor, *, real: bool) -> int:
    """The integer around `x`."""
    value = np.float32(attribute(node, "value", 0.0))
    if len(node.input) > 2 and node.input[2]:
        given = given_constant(reader.graph, node.input[2], "its constant")
        if given.size != 1:
            raise NotTakenError(f"its constant must be one number, not of the shape {list(given.shape)}")
        value = np.float32(given.reshape(()))
    if not real:
        return int(value)
    fill = x.quantize(value)
    if x.dequantize(fill) != value:
        raise NotTakenError(
            f"its constant must be a number that an integer of its input stands for, as 0 is, not {float(value):.6g}"
        )
    return int(fill)


def _padded(name: str, x: Tensor, y: Tensor, pads: tuple[int, int, int, int], fill: int) -> Convolution:
    """`y`, counted as `x`, with `fill` around it: weights of 1 and a scale of 1, with `fill` as the zero point."""
    count = x.shape[1]
    layer = MatMulLayer(
        name=layer_name(name),
        b=np.ones((1, count), np.int8),
        a_scale=x.scale,
        a_zero_point=fill,
        b_scale=np.float32(1),
        b_zero_point=np.int8(0),
        y_scale=x.scale,
        y_zero_point=fill,
        a_format=x.format,
        y_format=x.format,
    )
    ends = x.replace(zero_point=fill), y.replace(zero_point=fill)
    window = Window(kernel=(1, 1), pads=pads)
    return Convolution(name=name, inputs=ends[:1], output=ends[1], window=window, groups=count, layer=layer)
