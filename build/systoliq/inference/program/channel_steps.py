"""Steps of the vector unit with a table for each channel: batch normalization, and products with constant tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from systoliq.golden.formats import IntFormat
from systoliq.hw.dma.vector_commands import VectorOperation

from ...onnx.graph import Graph
from ...onnx.node import is_operator
from ..lowering import Lowered
from ..operations import Array
from ..steps import VectorStep, label_of
from .by_onnxruntime import by_onnxruntime, entries_of
from .quantized import quantized_node
from .vector_work import VectorCommand, VectorWork, places_of, rectangles

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["channel_step", "channel_work", "is_of_channels"]

_NORMALIZATION, _PRODUCT = "BatchNormalization", "QLinearMul"
_MOST = 256
"""Tables of a step; each takes 1,024 bytes and as many cycles as 128 words of a bus of 64 bits, or more."""


def channel_step(graph: Graph, node: NodeProto) -> VectorStep | None:
    """The step with a table for each channel whose last node is `node`; None if that ends none."""
    if node.op_type == _PRODUCT:
        known = all(graph.is_constant(name) for name in (*node.input[1:3], *node.input[4:]) if name)
        if not known or _constant(graph, node).size < 2:
            return None
        inputs = tuple(name for name in (node.input[0], node.input[3]) if not graph.is_constant(name))
        return VectorStep(name=label_of(node), nodes=(node,), inputs=inputs)
    found = quantized_node(graph, node, _NORMALIZATION)
    if found is None or graph.is_constant(found[0].input[0]):
        return None
    first, normalization = found
    own, before = {each.output[0] for each in (first, normalization, node)}, [*normalization.input[1:]]
    for name in before:
        if graph.is_constant(name):
            continue
        made = graph.producer(name)
        if made is None or not is_operator(made, "DequantizeLinear") or not all(map(graph.is_constant, made.input)):
            return None
        own |= {name} if graph.has_one_use(name) else set()
    nodes = tuple(each for each in graph.graph.node if each.output[0] in own)
    return VectorStep(name=label_of(normalization), nodes=nodes, inputs=(first.input[0],))


def is_of_channels(model: Lowered, step: VectorStep) -> bool:
    """True if the step is one of `channel_step`."""
    if step.node.op_type == _PRODUCT:
        return _constant(model.graph, step.node).size > 1
    return any(node.op_type == _NORMALIZATION for node in step.nodes)


def channel_work(model: Lowered, step: VectorStep, tensors: Mapping[str, Array]) -> VectorWork:
    """The work of a step with a table for each channel; ValueError if the unit has none."""
    x, y = tensors[step.inputs[0]], tensors[step.output]
    axis = _axis(model, step, x.ndim)
    if x.ndim < 2 or x.shape != y.shape:
        raise ValueError(f"its output must have the shape of its input, not {list(y.shape)} for {list(x.shape)}")
    channels = x.shape[axis]
    if channels > _MOST:
        raise ValueError(f"it must have a table for at most {_MOST} channels, not for {channels}")
    operand, output = IntFormat.of(x.dtype), IntFormat.of(y.dtype)
    run = by_onnxruntime(model, step)
    along = x.ndim - 1 if axis != x.ndim - 1 else 0

    def tables(codes: Array) -> Array:
        laid = np.moveaxis(np.tile(codes, (*[1] * (x.ndim - 2), channels, 1)), (-2, -1), (axis, along))
        found: Array = np.moveaxis(run(np.ascontiguousarray(laid)), (axis, along), (-2, -1)).reshape(channels, -1)
        return found

    entries = entries_of(tables, np.arange(operand.min, operand.max + 1).astype(operand.dtype))
    return VectorWork(
        operations=tuple(VectorOperation.lookup(each, operand, output) for each in entries),
        commands=tuple(_commands(x.shape, axis)),
        apply=lambda given: _apply(entries, given, axis, operand),
        operand=operand, output=output,
    )  # fmt: skip


def _constant(graph: Graph, node: NodeProto) -> Array:
    """The constant operand of a product; empty if there is none, or two."""
    names = [name for name in (node.input[0], node.input[3]) if graph.is_constant(name)]
    return graph.constant(names[0], "an operand") if len(names) == 1 else np.zeros(0)


def _axis(model: Lowered, step: VectorStep, dimensions: int) -> int:
    """The axis of the channels: the only one along which the constant of a product is not the same."""
    if step.node.op_type != _PRODUCT:
        return 1
    shape = _constant(model.graph, step.node).shape
    axes = [dimensions - len(shape) + at for at, size in enumerate(shape) if size > 1]
    if len(axes) != 1 or axes[0] < 0:
        raise ValueError(f"its constant must change along one axis, and has the shape {list(shape)}")
    return axes[0]


def _commands(shape: tuple[int, ...], axis: int) -> Iterator[VectorCommand]:
    """Yield the commands of one channel after the other."""
    places = np.moveaxis(places_of(shape), axis, 0)
    for channel, at in enumerate(places):
        for rows, size, ((first, stride), _) in rectangles([at, at]):
            yield VectorCommand(
                operation=channel, rows=rows, row_bytes=size, places=(("a", first, stride), ("y", first, stride))
            )


def _apply(entries: Array, given: Array, axis: int, operand: IntFormat) -> Array:
    """The tables of `entries` [channel, code] on the tensor `given`."""
    codes = np.moveaxis(given, axis, 0).astype(np.int64) - operand.min
    found = np.stack([table[code] for table, code in zip(entries, codes, strict=True)])
    return np.moveaxis(found, 0, axis)
