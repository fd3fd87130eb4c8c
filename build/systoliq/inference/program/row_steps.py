"""Steps of the vector unit on whole rows of a lowered graph: softmax and layer normalization, in golden's integers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from systoliq.golden import network
from systoliq.golden.formats import IntFormat
from systoliq.hw.dma.row_operations import NormalizationOperation, RowOperation, SoftmaxOperation
from systoliq.hw.dma.vector_commands import LARGEST_ROWS

from ...onnx.graph import Graph
from ...onnx.network.functions import real_constant
from ...onnx.node import NotTakenError, attribute
from ..lowering import Lowered
from ..operations import Array
from ..steps import VectorStep, label_of
from .quantized import quantized_node
from .vector_work import VectorCommand, VectorWork, layout_of

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["is_of_rows", "row_step", "row_work"]

_SOFTMAX, _NORMALIZATION = "QLinearSoftmax", "LayerNormalization"


def row_step(graph: Graph, node: NodeProto) -> VectorStep | None:
    """The step on rows whose last node is `node`; None if that ends none."""
    if node.op_type == _SOFTMAX:
        known = all(graph.is_constant(name) for name in node.input[1:] if name)
        computed = not graph.is_constant(node.input[0])
        return VectorStep(name=label_of(node), nodes=(node,), inputs=(node.input[0],)) if known and computed else None
    return _normalization(graph, node)


def is_of_rows(step: VectorStep) -> bool:
    """True if the step is one of `row_step`."""
    return any(node.op_type in (_SOFTMAX, _NORMALIZATION) for node in step.nodes)


def row_work(model: Lowered, step: VectorStep, tensors: Mapping[str, Array], longest: int) -> VectorWork:
    """The work of a step on rows of up to `longest` elements; ValueError if the unit has none."""
    x, y = tensors[step.inputs[0]], tensors[step.output]
    length = x.shape[-1]
    if length > longest:
        raise ValueError(f"its rows must have at most row_length = {longest} elements, not {length}")
    try:
        operation = _operation(model.graph, step, x, y)
    except NotTakenError as error:
        raise ValueError(str(error)) from error
    return VectorWork(
        operations=(operation,), commands=tuple(_commands(x.shape)), apply=operation.apply,
        operand=IntFormat.of(x.dtype), output=IntFormat.of(y.dtype),
    )  # fmt: skip


def _normalization(graph: Graph, last: NodeProto) -> VectorStep | None:
    """DequantizeLinear, LayerNormalization, the QuantizeLinear `last`, and the nodes that make gain and shift."""
    found = quantized_node(graph, last, _NORMALIZATION)
    if found is None or graph.is_constant(found[0].input[0]):
        return None
    first, node = found
    before = [graph.producer(name) for name in node.input[1:] if name]
    own = {each.output[0] for each in before if each is not None and graph.has_one_use(each.output[0])}
    own |= {each.output[0] for each in (first, node, last)}
    nodes = tuple(each for each in graph.graph.node if each.output[0] in own)
    return VectorStep(name=label_of(node), nodes=nodes, inputs=(first.input[0],))


def _operation(graph: Graph, step: VectorStep, x: Array, y: Array) -> RowOperation:
    node = next(each for each in step.nodes if each.op_type in (_SOFTMAX, _NORMALIZATION))
    axis = int(attribute(node, "axis", -1))
    if axis % x.ndim != x.ndim - 1:
        raise ValueError(f"its axis must be the last dimension, not {axis} of an input of the shape {list(x.shape)}")
    if node.op_type == _SOFTMAX:
        given, made = (_tensor(graph, *each) for each in (("x", node.input[1:3], x), ("y", node.input[3:5], y)))
        return SoftmaxOperation(node=network.Softmax(name=step.name, inputs=(given,), output=made))
    first = next(each for each in step.nodes if each.output[0] == node.input[0])
    given, made = (_tensor(graph, *each) for each in (("x", first.input[1:], x), ("y", step.node.input[1:], y)))
    gain = real_constant(graph, node.input[1], "scale")
    bias = node.input[2] if len(node.input) > 2 else ""
    return NormalizationOperation(
        node=network.LayerNormalization(
            name=step.name, inputs=(given,), output=made, gain=gain,
            shift=real_constant(graph, bias, "bias") if bias else np.zeros(len(gain), np.float32),
            epsilon=np.float32(attribute(node, "epsilon", 1e-5)),
        )
    )  # fmt: skip


def _tensor(graph: Graph, name: str, parameters: list[str], array: Array) -> network.Tensor:
    """A row of the tensor `array` with a scale and a zero point from the graph."""
    form, values = IntFormat.of(array.dtype), [graph.constant(each, "a parameter") for each in parameters if each]
    if any(value.size != 1 for value in values):
        raise ValueError("its scales and zero points must be one number each")
    zero_point = int(values[1].reshape(())) if len(values) > 1 else 0
    return network.Tensor(
        name=name, shape=(1, array.shape[-1]), format=form, scale=np.float32(values[0].reshape(())),
        zero_point=zero_point,
    )  # fmt: skip


def _commands(shape: tuple[int, ...]) -> Iterator[VectorCommand]:
    """Yield commands for all rows of a tensor, each for as many rows as it can have."""
    rows = layout_of(shape)
    for first in range(0, rows.count, LARGEST_ROWS):
        at = first * rows.stride
        yield VectorCommand(
            operation=0, rows=min(LARGEST_ROWS, rows.count - first), row_bytes=rows.size,
            places=(("a", at, rows.stride), ("y", at, rows.stride)),
        )  # fmt: skip
