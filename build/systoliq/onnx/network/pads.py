"""Pad: a constant around images and rows is the padding of a depthwise convolution of 1 x 1 that changes nothing; other
modes repeat pixels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import Convolution, Move, Nearest, Node, Tensor, Transpose, Window

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
    if any(batch) or min(min(each) for each in (channels, *ends)) < 0:
        raise NotTakenError(
            "its pads must be at least 0, and 0 for the batch, not "
            f"{[first for first, _ in (batch, channels, *ends)] + [last for _, last in (batch, channels, *ends)]}"
        )
    (top, bottom), (left, right) = ends if len(ends) == 2 else ((0, 0), *ends)
    high, wide = image.shape[2] + top + bottom, image.shape[3] + left + right
    mode = attribute(node, "mode", b"constant").decode()
    fill = _fill(reader, node, x, real=not isinstance(value, Tensor)) if mode == "constant" else 0
    if any(channels) and mode != "constant":
        raise NotTakenError(f"it must repeat rows and columns, not channels, of which it pads {list(channels)}")
    deep = image.shape[1] + sum(channels)

    def make(y: Tensor) -> tuple[Node, ...]:
        if mode == "constant" and any(channels):
            return _with_channels(named(node), image, y, (channels, (top, bottom), (left, right)), fill)
        if mode == "constant":
            return (_padded(named(node), image, y, (top, left, bottom, right), fill),)
        places = [
            tuple(np.pad(np.arange(size), each, mode=mode).tolist())
            for size, each in zip(image.shape[2:], ((top, bottom), (left, right)), strict=True)
        ]
        return (Move(name=named(node), inputs=(image,), output=y, movement=Nearest(*places)),)

    padded, lowers = lowered(node, x, (image.shape[0], deep, high, wide), make)
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


def _with_channels(
    name: str, x: Tensor, y: Tensor, pads: tuple[tuple[int, int], tuple[int, int], tuple[int, int]], fill: int
) -> tuple[Node, ...]:
    """`y`, counted as `x`, with `fill` around it, of channels, too: rows and columns first, then channels as rows."""
    channels, (top, bottom), (left, right) = pads
    made: list[Node] = []
    if any((top, left, bottom, right)):
        inner = y.replace(name=f"{y.name}: rows and columns", shape=(*x.shape[:2], *y.shape[2:]))
        made.append(_padded(f"{name}: rows and columns", x, inner, (top, left, bottom, right), fill))
        x = inner
    turned, whole = (
        y.replace(name=f"{y.name}: {text}", shape=tuple(each.shape[axis] for axis in (0, 2, 1, 3)))
        for each, text in ((x, "channels as rows"), (y, "padded"))
    )
    turn = Transpose((0, 2, 1, 3))
    return (
        *made,
        Move(name=f"{name}: channels as rows", inputs=(x,), output=turned, movement=turn),
        _padded(name, turned, whole, (channels[0], 0, channels[1], 0), fill),
        Move(name=f"{name}: rows as channels", inputs=(whole,), output=y, movement=turn),
    )


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
