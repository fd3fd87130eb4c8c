"""Operators on all elements along one dimension, in QDQ form and of com.microsoft: Softmax, LayerNormalization; and
InstanceNormalization, along the pixels of each channel.

    channels along the dimension    the operator itself
    any other dimension             Transpose, Reshape to [batch, rows, elements], the operator, and both back
    pixels                          Reshape to [batch, channels, pixels], the operator, and back

Moves that change no order take no hardware.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from systoliq.golden.network import LayerNormalization, Move, Node, Reshape, Softmax, Tensor, Transpose
from systoliq.golden.network.normalization import MOST_CHANNELS

from ..graph import Graph
from ..node import NotTakenError, attribute
from .flat import is_flat
from .functions import real_constant
from .quantizers import named, operand, result
from .reader import Reader
from .values import Make, Pending, Value

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["along", "instance_normalization", "layer_normalization", "qlinear_softmax", "softmax"]

_EACH_AXIS = 13
"""The first opset in which Softmax works along one dimension, and not along all from `axis` on."""


def softmax(reader: Reader, node: NodeProto) -> Value:
    """Softmax of what a DequantizeLinear gives."""
    x = reader.tensor(node.input[0])
    return Pending(node=node, shape=x.shape, make=_softmax(reader.graph, node, x, _opset(reader.graph)))


def qlinear_softmax(reader: Reader, node: NodeProto) -> Value:
    """Inputs: x, x_scale, x_zero_point, y_scale, y_zero_point; `opset` is of the Softmax that it replaces."""
    x = operand(reader, node, 0, "x")
    y = result(reader, node, x.shape, 3)
    reader.emit(node, _softmax(reader.graph, node, x, int(attribute(node, "opset", _EACH_AXIS)))(y))
    return y


def layer_normalization(reader: Reader, node: NodeProto) -> Value:
    """Inputs: x behind a DequantizeLinear; scale and, where there is one, the bias, constant."""
    graph, x = reader.graph, reader.tensor(node.input[0])
    for name, role in zip(node.output[1:], ("mean", "inverse deviation"), strict=False):
        if name:
            raise NotTakenError(f"it must have one output, not also the {role} {name!r}")
    given = int(attribute(node, "axis", -1))
    axis = _axis(graph, node, x, given)
    if math.prod(x.shape[axis + 1 :]) > 1:
        raise NotTakenError(
            f"axis must be the last dimension, -1, not {given} of an input of the shape {list(x.shape)}"
        )
    gain = real_constant(graph, node.input[1], "scale")
    bias = node.input[2] if len(node.input) > 2 else ""
    shift = real_constant(graph, bias, "bias") if bias else np.zeros(len(gain), np.float32)
    epsilon = np.float32(attribute(node, "epsilon", 1e-5))

    def operator(x: Tensor, y: Tensor) -> Node:
        return LayerNormalization(name=named(node), inputs=(x,), output=y, gain=gain, shift=shift, epsilon=epsilon)

    return Pending(node=node, shape=x.shape, make=along(node, x, axis, operator))


def instance_normalization(reader: Reader, node: NodeProto) -> Value:
    """Inputs: x behind a DequantizeLinear; scale and bias, constant, each one number for all channels.

    The pixels of each channel are a row, which a LayerNormalization computes.
    """
    graph, x = reader.graph, reader.tensor(node.input[0])
    gain, shift = (
        real_constant(graph, name, role) for name, role in zip(node.input[1:], ("scale", "bias"), strict=True)
    )
    for role, numbers in (("scale", gain), ("bias", shift)):
        if len(x.shape) < 3 or numbers.shape != x.shape[1:2]:
            raise NotTakenError(
                f"its {role} must have a number for each channel of [batch, channels, ...], not the shape "
                f"{list(numbers.shape)} beside {list(x.shape)}"
            )
        if (numbers != numbers[0]).any():
            raise NotTakenError(
                f"its {role} must be the same number for all channels, not {numbers.min():.6g} to {numbers.max():.6g}: "
                "export it without affine parameters, and put a Mul and an Add by channel behind it"
            )
    pixels = math.prod(x.shape[2:])
    if not 2 <= pixels <= MOST_CHANNELS:
        raise NotTakenError(f"it must normalize 2 to {MOST_CHANNELS} pixels, not {pixels}")
    rows = (x.shape[0], x.shape[1], pixels)
    epsilon = np.float32(attribute(node, "epsilon", 1e-5))

    def make(y: Tensor) -> tuple[Node, ...]:
        name = named(node)
        given, made = (
            each.replace(name=f"{y.name}: {what}", shape=rows)
            for each, what in ((x, "rows of input"), (y, "rows of output"))
        )
        gains, shifts = (np.full(pixels, numbers[0]) for numbers in (gain, shift))
        return (
            Move(name=f"{name}: rows", inputs=(x,), output=given, movement=Reshape(rows[1:])),
            LayerNormalization(name=name, inputs=(given,), output=made, gain=gains, shift=shifts, epsilon=epsilon),
            Move(name=f"{name}: no rows", inputs=(made,), output=y, movement=Reshape(y.shape[1:])),
        )

    return Pending(node=node, shape=x.shape, make=make)


def _opset(graph: Graph) -> int:
    return next((each.version for each in graph.opsets if each.domain in ("", "ai.onnx")), _EACH_AXIS)


def _softmax(graph: Graph, node: NodeProto, x: Tensor, opset: int) -> Make:
    axis = _axis(graph, node, x, int(attribute(node, "axis", -1 if opset >= _EACH_AXIS else 1)))
    if opset < _EACH_AXIS and math.prod(x.shape[axis + 1 :]) > 1:
        raise NotTakenError(
            f"axis must be the last dimension up to opset {_EACH_AXIS - 1}, where Softmax works along all dimensions "
            f"from axis on, not {axis} of {len(x.shape)}: convert the model to opset {_EACH_AXIS} or later"
        )
    return along(node, x, axis, lambda x, y: Softmax(name=named(node), inputs=(x,), output=y))


def _axis(graph: Graph, node: NodeProto, x: Tensor, axis: int) -> int:
    """Return the dimension of `x` that the model calls `axis`; raise NotTakenError if it is the batch or none."""
    rank = len(x.shape)
    missing = int(is_flat(graph, node.input[0], x.shape))  # the batch, which the model does not have
    if not -(rank - missing) <= axis < rank - missing:
        raise NotTakenError(f"axis must be {missing - rank} to {rank - missing - 1}, not {axis}")
    found = axis % (rank - missing) + missing
    if found == 0:
        raise NotTakenError("axis must be another dimension than the batch, the first")
    return found


def along(node: NodeProto, x: Tensor, axis: int, operator: Callable[[Tensor, Tensor], Node]) -> Make:
    """Return what makes the output of `operator`, which works on the channels of each pixel, along `axis` of `x`."""
    rank = len(x.shape)
    if axis == (1 if rank == 4 else rank - 1):
        return lambda y: (operator(x, y),)
    perm = (*(each for each in range(rank) if each != axis), axis)
    back = tuple(perm.index(each) for each in range(rank))
    turned = tuple(x.shape[each] for each in perm)
    rows = (turned[0], math.prod(turned[1:-1]), turned[-1])

    def make(y: Tensor) -> tuple[Node, ...]:
        name, nodes = named(node), list[Node]()

        def move(given: Tensor, made: Tensor, movement: Reshape | Transpose, what: str) -> None:
            nodes.append(Move(name=f"{name}: {what}", inputs=(given,), output=made, movement=movement))

        first, last = (
            each.replace(name=f"{y.name}: {what}", shape=turned)
            for each, what in ((x, "turned input"), (y, "turned output"))
        )
        given, made = (
            each.replace(name=f"{y.name}: {what}", shape=rows)
            for each, what in ((x, "rows of input"), (y, "rows of output"))
        )
        if perm == back == tuple(range(rank)):
            move(x, given, Reshape(rows[1:]), "rows")
            nodes.append(operator(given, made))
            move(made, y, Reshape(y.shape[1:]), "no rows")
            return tuple(nodes)
        move(x, first, Transpose(perm), "turned")
        move(first, given, Reshape(rows[1:]), "rows")
        nodes.append(operator(given, made))
        move(made, last, Reshape(turned[1:]), "no rows")
        move(last, y, Transpose(back), "turned back")
        return tuple(nodes)

    return make
