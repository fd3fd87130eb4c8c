"""Means over the rows of a sequence, stated as averages of its integers, as networks have them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from systoliq.golden.formats import IntFormat
from systoliq.golden.network import Tensor

from ...onnx.graph import Graph
from ...onnx.network.pools import refuse_ties_of_mean
from ...onnx.node import NotTakenError, attribute
from ...onnx.rebuilt import rebuilt
from ...onnx.runtime import Session
from ..host import watched
from ..lowering import Lowered
from ..operations import Array
from .quantized import quantized_node

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["with_averages"]

_PREFIX = "systoliq/mean"  # of the names that are added


@dataclasses.dataclass(frozen=True)
class _Mean:
    """DequantizeLinear, ReduceMean over the second of three dimensions, QuantizeLinear."""

    first: NodeProto
    node: NodeProto
    last: NodeProto


def with_averages(model: Lowered, feed: Mapping[str, Array]) -> Lowered:
    """Return `model` with a QLinearGlobalAveragePool in place of each such mean, where few sums of integers are near a
    tie; or `model` itself if it has none. Shapes are those for the inputs `feed`.
    """
    graph = model.graph
    means = [found for node in graph.graph.node if (found := _mean(graph, node)) is not None]
    if not means:
        return model
    names = [name for each in means for name in (each.first.input[0], each.node.output[0])]
    given = {name: feed[name] for name in names if name in feed}
    asked = [name for name in dict.fromkeys(names) if name not in given]
    if asked:
        given |= Session(watched(model.model, asked), str(model.path), as_it_is=True).run(asked, feed)
    means = [each for each in means if _is_taken(graph, each, given[each.first.input[0]])]
    if not means:
        return model
    dropped = {each.output[0] for mean in means for each in (mean.first, mean.node)}
    by_last = {mean.last.output[0]: mean for mean in means}
    constants: dict[str, Array] = {}
    nodes: list[NodeProto] = []
    for node in graph.graph.node:
        if node.output[0] in by_last:
            mean = by_last[node.output[0]]
            nodes += _average(mean, given[mean.node.output[0]].shape, constants)
        elif node.output[0] not in dropped:
            nodes.append(node)
    return dataclasses.replace(model, model=rebuilt(model.model, nodes, constants))


def _mean(graph: Graph, last: NodeProto) -> _Mean | None:
    """The mean that `last` quantizes; None if it does not."""
    found = quantized_node(graph, last, "ReduceMean")
    if found is None:
        return None
    first, node = found
    numbers = [*first.input[1:], *last.input[1:]]
    if len(numbers) != 4 or not all(numbers):
        return None
    if any(graph.constant(name, "a parameter").size != 1 for name in numbers):
        return None
    axes = attribute(node, "axes", None)
    if axes is None and len(node.input) > 1 and graph.is_constant(node.input[1]):
        axes = graph.constant(node.input[1], "axes").reshape(-1).tolist()
    return _Mean(first, node, last) if axes is not None and [axis % 3 for axis in axes] == [1] else None


def _is_taken(graph: Graph, mean: _Mean, x: Array) -> bool:
    """True if a stage of a network takes it, too: few sums of integers are near a tie, where the order of float32's
    additions decides.
    """
    x_scale, x_zero, y_scale, y_zero = (
        graph.constant(name, "a parameter").reshape(()) for name in (*mean.first.input[1:], *mean.last.input[1:])
    )
    if x.ndim != 3 or x.dtype not in (np.int8, np.uint8) or y_zero.dtype != x.dtype:
        return False
    shape, form = (1, x.shape[2], x.shape[1], 1), IntFormat.of(x.dtype)
    try:
        given, made = (
            Tensor(name=name, shape=shape, format=form, scale=np.float32(scale), zero_point=int(zero))
            for name, scale, zero in (("x", x_scale, x_zero), ("y", y_scale, y_zero))
        )
        refuse_ties_of_mean(mean.node, given, made)
    except (ValueError, NotTakenError):
        return False
    return True


def _average(mean: _Mean, shape: tuple[int, ...], constants: dict[str, Array]) -> list[NodeProto]:
    """The average, and the reshaping of its result to `shape`."""
    from onnx import helper

    y = mean.last.output[0]
    pixel, name = f"{_PREFIX}/{y}/pixel", f"{_PREFIX}/{y}/shape"
    constants[name] = np.array(shape, np.int64)
    inputs = [mean.first.input[0], *mean.first.input[1:3], *mean.last.input[1:3]]
    return [
        helper.make_node(
            "QLinearGlobalAveragePool", inputs, [pixel], name=mean.node.name, domain="com.microsoft", channels_last=1
        ),
        helper.make_node("Reshape", [pixel, name], [y]),
    ]
