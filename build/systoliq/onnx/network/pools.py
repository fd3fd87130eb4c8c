"""Pools: MaxPool, GlobalMaxPool, AveragePool, GlobalAveragePool, ReduceMax and ReduceMean, between DequantizeLinear and
QuantizeLinear, or on integers, of com.microsoft too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import (
    Convolution,
    MaxPool,
    Move,
    Node,
    Reshape,
    Tensor,
    Transpose,
    WholeAverage,
    Window,
    WindowedAverage,
)

from ..node import NotTakenError, attribute, label, layer_name
from .flat import is_flat, of_flat
from .parts import averages_by_parts
from .quantizers import named, numbers_of, of_format, operand, result
from .reader import Reader
from .rows import as_image, lowered
from .sums import image_of, window_of
from .ties import refuse_ties
from .values import Make, Pending, Value

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = [
    "average_pool",
    "global_average_pool",
    "global_max_pool",
    "max_pool",
    "qlinear_average_pool",
    "qlinear_global_average_pool",
    "reduce_max",
    "reduce_mean",
    "reduce_sum",
    "refuse_ties_of_mean",
]


_ROUNDINGS = 2.0**-22  # by which float32 sums differ from the true mean, of the mean
_MOST_TIES = 1e-3  # of all sums, for ReduceMean


def max_pool(reader: Reader, node: NodeProto) -> Value:
    """MaxPool on integers, or on a DequantizeLinear's result: the integers are the same."""
    if len(node.output) > 1 and node.output[1]:
        raise NotTakenError(f"it must have one output, not also the indices {node.output[1]!r}")
    return _maximum(reader, node, lambda spatial: window_of(node, spatial, attribute(node, "kernel_shape")))


def global_max_pool(reader: Reader, node: NodeProto) -> Value:
    """The greatest integer of the whole image, also through a DequantizeLinear."""
    return _maximum(reader, node, _whole_window)


def _whole_window(spatial: Sequence[int]) -> Window:
    return Window(kernel=image_of(spatial))


def _maximum(reader: Reader, node: NodeProto, window_for: Callable[[Sequence[int]], Window]) -> Value:
    value = reader.value(node.input[0])
    if isinstance(value, Pending) and value.counts is None and len(value.shape) == 4:
        return _before_maximum(reader, node, value, window_for(value.shape[2:]))
    x = reader.integers_behind(node.input[0])
    shape, make = _greatest(reader, node, x, window_for)
    return on_integers(reader, node, value, Pending(node=node, shape=shape, make=make, counts=x))


def _greatest(
    reader: Reader, node: NodeProto, x: Tensor, window_for: Callable[[Sequence[int]], Window]
) -> tuple[tuple[int, ...], Make]:
    """The output's shape of the maximum in windows of `x`, and the operator."""
    image = as_image(reader, node, x)
    window = window_for(x.shape[2:])

    def make(y: Tensor) -> tuple[Node, ...]:
        return (MaxPool(name=named(node), inputs=(image,), output=y, window=window),)

    return lowered(node, x, (*x.shape[:2], *window.positions(image.shape[2:])), make)


def _before_maximum(reader: Reader, node: NodeProto, value: Pending, window: Window) -> Pending:
    """The greatest of real numbers: they are quantized first, which is the same, as QuantizeLinear rises."""
    reader.expect_one_use(node.input[0])

    def pooled(make: Make) -> Make:
        def both(y: Tensor) -> tuple[Node, ...]:
            inner = y.replace(name=node.input[0], shape=value.shape)
            return (*make(inner), MaxPool(name=named(node), inputs=(inner,), output=y, window=window))

        return both

    reader.fold(node, value.node)
    return Pending(
        node=value.node,
        shape=(*value.shape[:2], *window.positions(value.shape[2:])),
        make=pooled(value.make),
        real=None if value.real is None else pooled(value.real),
        clamps=value.clamps,
        followers=value.followers + 1,
    )


def on_integers(reader: Reader, node: NodeProto, value: Value, pending: Pending, output: str | None = None) -> Value:
    """`pending`, an operator that only chooses among integers; made at once where `value` is integers itself. `output`
    is its name where it is not the node's first.
    """
    if not isinstance(value, Tensor) or pending.counts is None:
        return pending
    y = pending.counts.replace(name=output or node.output[0], shape=pending.shape, value=None)
    reader.emit(node, pending.make(y))
    return y


def average_pool(reader: Reader, node: NodeProto) -> Value:
    """AveragePool of a DequantizeLinear's result."""
    x = reader.tensor(node.input[0])
    shape, make = _average(reader, node, x)
    return Pending(node=node, shape=shape, make=make)


def global_average_pool(reader: Reader, node: NodeProto) -> Value:
    """GlobalAveragePool of a DequantizeLinear's result."""
    shape, make = _whole(reader, node, reader.tensor(node.input[0]))
    return Pending(node=node, shape=shape, make=make)


def reduce_mean(reader: Reader, node: NodeProto) -> Value:
    """The mean over dimensions of what a DequantizeLinear gives: the average of whole images of these dimensions.

    onnxruntime adds float32 numbers here, not integers as in GlobalAveragePool. Where the true mean lies within the
    rounding of float32 of a tie, its result depends on the order of the pixels. Scales that make such sums common are
    refused.
    """
    x, shape = _reduced(reader, node, reader.tensor(node.input[0]))
    image = as_image(reader, node, x)
    averaged, average = _whole(reader, node, x)

    def make(y: Tensor) -> tuple[Node, ...]:
        refuse_ties_of_mean(node, image, y)
        return _reshaped(node, averaged, average, y)

    return Pending(node=node, shape=shape, make=make)


def reduce_sum(reader: Reader, node: NodeProto) -> Value:
    """The sum over dimensions of what a DequantizeLinear gives: a depthwise convolution of whole images with weights
    of 1. onnxruntime adds float32 numbers; scales that make sums half-way between two results common are refused.
    """
    x, shape = _reduced(reader, node, reader.tensor(node.input[0]))
    image = as_image(reader, node, x)
    batch, channels, *pixels = image.shape

    def added(y: Tensor) -> tuple[Node, ...]:
        layer = MatMulLayer(
            name=layer_name(named(node)),
            b=np.ones((math.prod(pixels), channels), np.int8),
            a_scale=x.scale,
            a_zero_point=x.zero_point,
            b_scale=np.float32(1),
            b_zero_point=np.int8(0),
            y_scale=y.scale,
            y_zero_point=y.zero_point,
            a_format=x.format,
            y_format=y.format,
        )
        refuse_ties(node, layer)
        window = Window(kernel=(pixels[0], pixels[1]))
        return (Convolution(name=named(node), inputs=(image,), output=y, window=window, groups=channels, layer=layer),)

    whole, make = lowered(node, x, (batch, channels, 1, 1), added)
    return Pending(node=node, shape=shape, make=lambda y: _reshaped(node, whole, make, y))


def reduce_max(reader: Reader, node: NodeProto) -> Value:
    """The greatest integer along dimensions, also through a DequantizeLinear."""
    value = reader.value(node.input[0])
    x, shape = _reduced(reader, node, reader.integers_behind(node.input[0]))
    pooled, pool = _greatest(reader, node, x, _whole_window)
    pending = Pending(node=node, shape=shape, make=lambda y: _reshaped(node, pooled, pool, y), counts=x)
    return on_integers(reader, node, value, pending)


def _reshaped(node: NodeProto, shape: tuple[int, ...], make: Make, y: Tensor) -> tuple[Node, ...]:
    """The nodes of `make`, whose result has this `shape`, and a reshape to `y` where that has another."""
    if shape == y.shape:
        return make(y)
    reduced = y.replace(name=f"{y.name}: reduced", shape=shape)
    shaped = Move(name=f"{named(node)}: shape", inputs=(reduced,), output=y, movement=Reshape(y.shape[1:]))
    return (*make(reduced), shaped)


def _reduced(reader: Reader, node: NodeProto, x: Tensor) -> tuple[Tensor, tuple[int, ...]]:
    """The tensor `x` as images to average or to take the greatest of whole, and the shape of its reduction.

    Raises NotTakenError for a reduction over the batch.
    """
    flat = is_flat(reader.graph, node.input[0], x.shape)
    kept, axes = bool(attribute(node, "keepdims", 1)), _axes(reader, node, len(x.shape), flat=flat)
    gone = axes or set()
    shape = tuple(1 if axis in gone else size for axis, size in enumerate(x.shape) if kept or axis not in gone)
    if flat:
        reader.graph.state_shape(node.output[0], shape[1:])
        shape = of_flat(shape[1:])
    last = len(x.shape) - 1
    if axes == set(range(1, last)) and last in (2, 3):
        return _with_channels_second(reader, node, x), shape
    if axes == set(range(2, last + 1)):
        return x, shape
    if not axes or 0 in axes:
        wanted = "all dimensions" if axes is None else f"the dimensions {sorted(axes)}"
        raise NotTakenError(f"it must reduce dimensions other than the first, which is the batch, not {wanted}")
    return _with_dimensions_last(reader, node, x, sorted(axes)), shape


def _with_channels_second(reader: Reader, node: NodeProto, x: Tensor) -> Tensor:
    """The tensor `x` [batch, ..., channels] as [batch, channels, ...], which takes no hardware."""
    last = len(x.shape) - 1
    return _turned(reader, node, x, (0, last, *range(1, last)), "channels first")


def _with_dimensions_last(reader: Reader, node: NodeProto, x: Tensor, axes: Sequence[int]) -> Tensor:
    """The tensor `x` as [batch, all other dimensions, all of `axes`]."""
    others = [axis for axis in range(1, len(x.shape)) if axis not in axes]
    turned = _turned(reader, node, x, (0, *others, *axes), f"{', '.join(map(str, axes))} last")
    counts = (math.prod(x.shape[axis] for axis in each) for each in (others, axes))
    joined = turned.replace(name=f"{turned.name}, joined", shape=(x.shape[0], *counts))
    if not reader.makes(joined.name):
        movement = Reshape(joined.shape[1:])
        reader.emit(node, (Move(name=f"{named(node)}: joined", inputs=(turned,), output=joined, movement=movement),))
    return joined


def _turned(reader: Reader, node: NodeProto, x: Tensor, perm: tuple[int, ...], text: str) -> Tensor:
    turned = x.replace(name=f"{x.name}: {text}", shape=tuple(x.shape[axis] for axis in perm))
    if not reader.makes(turned.name):
        move = Move(name=f"{named(node)}: {text}", inputs=(x,), output=turned, movement=Transpose(perm))
        reader.emit(node, (move,))
    return turned


def _axes(reader: Reader, node: NodeProto, rank: int, *, flat: bool) -> set[int] | None:
    """The dimensions of a reduction; None for all. Its input has `rank` dimensions in golden."""
    axes = numbers_of(reader.graph, node, "its axes")
    if not axes:
        return set() if attribute(node, "noop_with_empty_axes", 0) else None
    return {axis % (rank - flat) + flat for axis in axes}


def refuse_ties_of_mean(node: NodeProto, x: Tensor, y: Tensor) -> None:
    """A NotTakenError where more sums of an image's integers than `_MOST_TIES` lie half-way between two results."""
    pixels = x.shape[2] * x.shape[3]
    bounds = (pixels * (each - x.zero_point) for each in (x.format.min, x.format.max + 1))
    means = np.arange(*bounds) * (float(x.scale) / float(y.scale) / pixels)
    ties = np.abs(np.abs(means - np.rint(means)) - 0.5) <= _ROUNDINGS * np.maximum(np.abs(means), 1)
    if np.mean(ties) > _MOST_TIES:
        raise NotTakenError(
            f"the scales around {label(node)} must leave few means of {pixels} pixels half-way between two results, "
            f"where onnxruntime's float32 sum decides, not {float(x.scale):.9g} before and {float(y.scale):.9g} after "
            f"it, for which {np.count_nonzero(ties)} of {len(ties)} sums are; other scales may help, and over rows "
            "and columns GlobalAveragePool is exact for all"
        )


def qlinear_average_pool(reader: Reader, node: NodeProto) -> Value:
    """Inputs: x, x_scale, x_zero_point, y_scale, y_zero_point."""
    _refuse_channels_last(node)
    x = operand(reader, node, 0, "x")
    return _emitted(reader, node, *_average(reader, node, x))


def qlinear_global_average_pool(reader: Reader, node: NodeProto) -> Value:
    """Inputs: x, x_scale, x_zero_point, y_scale, y_zero_point."""
    _refuse_channels_last(node)
    x = operand(reader, node, 0, "x")
    return _emitted(reader, node, *_whole(reader, node, x))


def _emitted(reader: Reader, node: NodeProto, shape: tuple[int, ...], make: Make) -> Tensor:
    y = result(reader, node, shape, 3)
    reader.emit(node, make(y))
    return y


def _refuse_channels_last(node: NodeProto) -> None:
    if attribute(node, "channels_last", 0):
        raise NotTakenError("channels_last must be 0, not 1: channels are the second dimension")


def _whole(reader: Reader, node: NodeProto, x: Tensor) -> tuple[tuple[int, ...], Make]:
    """The output's shape of the average over all pixels, and the operator.

    onnxruntime computes it in float32 if input and output are not of one type.
    """
    image = as_image(reader, node, x)

    def make(y: Tensor) -> tuple[Node, ...]:
        if image.format != y.format:
            refuse_ties_of_mean(node, image, y)
        of_type, moves = of_format(node, image, y.format, y)
        return (*moves, WholeAverage(name=named(node), inputs=(of_type,), output=y))

    return lowered(node, x, (*image.shape[:2], 1, 1), make)


def _average(reader: Reader, node: NodeProto, x: Tensor) -> tuple[tuple[int, ...], Make]:
    """The output's shape of an AveragePool, and its operator, which depends on whether it covers the whole image."""
    image = as_image(reader, node, x)
    window = window_of(node, x.shape[2:], attribute(node, "kernel_shape"))
    if window.covers(image.shape[2:]):
        return _whole(reader, node, x)
    counts = bool(attribute(node, "count_include_pad", 0))
    if counts and attribute(node, "ceil_mode", 0):
        raise NotTakenError("ceil_mode must be 0 where count_include_pad is 1, not 1: what is counted would be unclear")

    def make(y: Tensor) -> tuple[Node, ...]:
        whole = WindowedAverage(name=named(node), inputs=(image,), output=y, window=window, counts_padding=counts)
        return averages_by_parts(whole)

    return lowered(node, x, (*image.shape[:2], *window.positions(image.shape[2:])), make)
