"""Products of each pixel with one computed number for each channel, as in squeeze and excitation, stated as matrix
products.

The numbers become the diagonal of a matrix by moves of bytes: behind each of C numbers come C times the zero point;
without the last C bytes, rows of C bytes have the numbers on the diagonal. Each sum of the product is then one product
of two integers. It is rescaled as a matrix product is, which need not round as QLinearMul does: see `_scale_of`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from systoliq.golden.formats import IntFormat
from systoliq.golden.rescale import combined_scale, requantize_float32

from ...onnx.rebuilt import rebuilt
from ...onnx.runtime import Session
from ..host import watched
from ..lowering import Lowered
from ..operations import Array
from ..steps import VectorStep
from .by_onnxruntime import by_onnxruntime

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["with_matrix_products"]

_PREFIX = "systoliq/gate"  # of the names that are added
_MOST = 256  # channels: the matrix has as many bytes as their square
_NEAR = 16  # float32 numbers on each side of a scale that are tried


def with_matrix_products(model: Lowered, feed: Mapping[str, Array]) -> Lowered:
    """Return `model` with a QLinearMatMul in place of each QLinearMul of a tensor whose last dimension is channels and
    of a number for each channel, both computed, if it gives the same integers for all pairs; or `model` itself if it
    has none. Shapes are those for the inputs `feed`.
    """
    graph = model.graph
    found = [node for node in graph.graph.node if node.op_type == "QLinearMul" and _is_known(model, node)]
    names = dict.fromkeys(name for node in found for name in (node.input[0], node.input[3]) if name not in feed)
    if not found:
        return model
    tensors = dict(feed)
    if names:
        tensors |= Session(watched(model.model, [*names]), str(model.path), as_it_is=True).run([*names], feed)
    constants: dict[str, Array] = {}
    nodes: list[NodeProto] = []
    for node in graph.graph.node:
        gate = _gate(node, tensors) if node in found else None
        scale = None if gate is None else _scale_of(model, node, gate, tensors[node.input[0]])
        if gate is None or scale is None:
            nodes.append(node)
            continue
        zero_point = graph.constant(node.input[gate + 2], "a zero point").reshape(())
        nodes += _product(node, gate, scale, tensors[node.input[gate]].size, zero_point, constants)
    return dataclasses.replace(model, model=rebuilt(model.model, nodes, constants)) if constants else model


def _is_known(model: Lowered, node: NodeProto) -> bool:
    """True if both operands are computed, and scales and zero points are constant numbers."""
    graph, parameters = model.graph, [*node.input[1:3], *node.input[4:]]
    numbers = [name for name in parameters if name and graph.is_constant(name)]
    return (
        len(numbers) == 6
        and all(graph.constant(name, "a parameter").size == 1 for name in numbers)
        and not any(graph.is_constant(name) for name in (node.input[0], node.input[3]))
    )


def _gate(node: NodeProto, tensors: Mapping[str, Array]) -> int | None:
    """The place of the operand that has one number for each channel, among the inputs of `node`; None if neither."""
    for place, other in ((3, 0), (0, 3)):
        gate, x = tensors[node.input[place]], tensors[node.input[other]]
        alike = x.ndim >= 2 and gate.shape[-1:] == x.shape[-1:] and gate.ndim <= x.ndim
        if alike and gate.size == x.shape[-1] < x.size and 1 < gate.size <= _MOST:
            return place
    return None


def _scale_of(model: Lowered, node: NodeProto, gate: int, x: Array) -> np.float32 | None:
    """The scale of the gate with which the matrix product gives onnxruntime's results of `node` for all pairs of
    codes: its own, or one beside it; None if there is none.

    QLinearMul adds the zero point before it rounds to an integer, and the product after it, which makes a difference at
    ties and next to them.
    """
    a_scale, a_zero, b_scale, b_zero, y_scale, y_zero = (
        model.graph.constant(name, "a parameter").reshape(()) for name in (*node.input[1:3], *node.input[4:])
    )
    form = IntFormat.of(x.dtype)
    codes = np.arange(form.min, form.max + 1)
    step = VectorStep(name=node.name, nodes=(node,), inputs=(node.input[0], node.input[3]))
    pairs = (np.repeat(codes, len(codes)), np.tile(codes, len(codes)))
    wanted = by_onnxruntime(model, step)(*(each.astype(x.dtype).reshape(1, -1) for each in pairs)).reshape(-1)
    sums = (pairs[0] - int(a_zero)) * (pairs[1] - int(b_zero))
    own, other = (b_scale, a_scale) if gate == 3 else (a_scale, b_scale)
    for scale in _around(np.float32(own)):
        factor = combined_scale(other, np.asarray(scale), y_scale)
        found = requantize_float32(sums, factor, int(y_zero), form)
        if (found == wanted).all():
            return scale
    return None


def _around(scale: np.float32) -> Iterator[np.float32]:
    """`scale`, and the numbers on both sides of it."""
    yield scale
    above = below = scale
    for _ in range(_NEAR):
        above, below = np.nextafter(above, np.float32(np.inf)), np.nextafter(below, np.float32(0))
        yield from (above, below)


def _product(
    node: NodeProto,
    gate: int,
    scale: np.float32,
    channels: int,
    zero_point: Array,
    constants: dict[str, Array],
) -> list[NodeProto]:
    """The moves that make the matrix, and the product."""
    from onnx import helper

    name, given, other = f"{_PREFIX}/{node.output[0]}", node.input[gate : gate + 3], 3 - gate
    constants |= {
        f"{name}/column": np.array([channels, 1]), f"{name}/flat": np.array([-1]), f"{name}/begin": np.array([0]),
        f"{name}/end": np.array([channels**2]), f"{name}/square": np.array([channels, channels]),
        f"{name}/zeros": np.full((channels, channels), zero_point), f"{name}/scale": np.array(scale),
    }  # fmt: skip
    return [
        helper.make_node("Reshape", [given[0], f"{name}/column"], [f"{name}/numbers"]),
        helper.make_node("Concat", [f"{name}/numbers", f"{name}/zeros"], [f"{name}/wide"], axis=1),
        helper.make_node("Reshape", [f"{name}/wide", f"{name}/flat"], [f"{name}/line"]),
        helper.make_node("Slice", [f"{name}/line", f"{name}/begin", f"{name}/end"], [f"{name}/part"]),
        helper.make_node("Reshape", [f"{name}/part", f"{name}/square"], [f"{name}/diagonal"]),
        helper.make_node(
            "QLinearMatMul",
            [*node.input[other : other + 3], f"{name}/diagonal", f"{name}/scale", given[2], *node.input[6:]],
            [node.output[0]],
            name=node.name,
        ),
    ]
