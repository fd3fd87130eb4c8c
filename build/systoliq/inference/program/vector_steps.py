"""Steps of the vector unit in a lowered graph: additions, and functions of single elements as tables.

What such nodes compute is what onnxruntime computes for all codes, so that nothing of its kernels is guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from systoliq.golden.formats import IntFormat
from systoliq.golden.network.sum_tables import SumTables
from systoliq.hw.dma.vector_commands import VectorOperation

from ...onnx.graph import Graph
from ...onnx.network.functions import FUNCTIONS
from ...onnx.node import is_operator
from ..host import HostPiece
from ..lowering import Lowered
from ..operations import Array
from ..steps import HostStep, VectorStep, label_of
from .pieces import NotCompiledError

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["operation_of", "vector_steps"]

_ELEMENTWISE = {*FUNCTIONS, "Add", "Sub", "Mul", "Div", "QuickGelu"}
_OF_ONE = ("QLinearSigmoid", "QLinearLeakyRelu")
_TAILS = 7  # elements that a kernel may compute apart, behind those that it computes together


def vector_steps(model: Lowered) -> tuple[VectorStep, ...]:
    """The steps of `model` that the vector unit may compute, in the order of their last nodes; none share a node."""
    graph = model.graph
    steps: list[VectorStep] = []
    for node in graph.graph.node:
        if node.op_type == "QLinearAdd":
            inputs = tuple(dict.fromkeys((node.input[0], node.input[3])))
            found = _step(graph, (node,), inputs, (*node.input[1:3], *node.input[4:]))
        elif node.op_type in _OF_ONE:
            found = _step(graph, (node,), (node.input[0],), node.input[1:])
        elif is_operator(node, "QuantizeLinear"):
            found = _function(graph, node)
        else:
            found = None
        steps += [found] if found else []
    return tuple(steps)


def _step(
    graph: Graph, nodes: tuple[NodeProto, ...], inputs: tuple[str, ...], parameters: tuple[str, ...]
) -> VectorStep | None:
    """A step, if its inputs are computed bytes and its parameters are constant numbers."""
    if any(graph.is_constant(name) for name in inputs) or not all(_is_number(graph, name) for name in parameters):
        return None
    return VectorStep(name=label_of(nodes[-1]), nodes=nodes, inputs=inputs)


def _is_number(graph: Graph, name: str) -> bool:
    return not name or (graph.is_constant(name) and graph.constant(name, "a parameter").size == 1)


def _function(graph: Graph, last: NodeProto) -> VectorStep | None:
    """The nodes from one DequantizeLinear to the QuantizeLinear `last`, if all are functions of its elements."""
    inside, begins = {last.output[0]}, set[str]()
    todo = [last.input[0]]
    while todo:
        name = todo.pop()
        node = graph.producer(name)
        if name in inside or not name or graph.is_constant(name):
            continue
        inside.add(name)
        if node is not None and is_operator(node, "DequantizeLinear"):
            begins.add(name)
        elif node is not None and node.op_type in _ELEMENTWISE:
            todo += node.input
        else:
            return None
    nodes = tuple(node for node in graph.graph.node if node.output[0] in inside)
    outside = [user for node in nodes[:-1] for user in graph.consumers(node.output[0]) if user.output[0] not in inside]
    if len(begins) != 1 or outside or any(graph.is_output(node.output[0]) for node in nodes[:-1]):
        return None
    first = graph.producer(begins.pop())
    if first is None:
        return None
    computed = {node.output[0] for node in nodes}
    parameters = [name for node in nodes for name in node.input if name not in computed and name != first.input[0]]
    return _step(graph, nodes, (first.input[0],), tuple(parameters))


def operation_of(model: Lowered, step: VectorStep, tensors: Mapping[str, Array]) -> VectorOperation:
    """The operation of `step`, whose tensors have the types and shapes of `tensors`; NotCompiledError if the unit has
    none.
    """
    try:
        return _operation(model, step, tensors)
    except ValueError as error:
        raise NotCompiledError(str(error)) from error


def _operation(model: Lowered, step: VectorStep, tensors: Mapping[str, Array]) -> VectorOperation:
    """The same; ValueError if there is none."""
    given = [tensors[name] for name in step.inputs]
    y = tensors[step.output]
    if any(x.dtype not in (np.int8, np.uint8) for x in (*given, y)):
        raise ValueError("its tensors must be int8 or uint8")
    if any(x.shape != y.shape or x.dtype != given[0].dtype for x in given) or not y.ndim:
        shapes = " and ".join(str(list(x.shape)) for x in given)
        raise ValueError(f"its inputs must have the type and shape of its output, {list(y.shape)}, not {shapes}")
    operand, output = IntFormat.of(given[0].dtype), IntFormat.of(y.dtype)
    codes = np.arange(operand.min, operand.max + 1).astype(operand.dtype)
    piece = HostPiece(model.model, HostStep(nodes=step.nodes, inputs=step.inputs, outputs=(step.output,), products={}))

    def apply(*arrays: Array) -> Array:
        shaped = [array.reshape(*[1] * (y.ndim - 1), -1) for array in arrays]
        return piece.run(dict(zip(step.inputs, shaped, strict=True)))[step.output].reshape(-1)

    if len(given) == 1:
        entries = _entries(apply(codes), (apply(each) for each in _parts(codes)))
        return VectorOperation.lookup(entries, operand, output)
    results = apply(np.repeat(codes, 256), np.tile(codes, 256)).reshape(256, 256)
    tables = SumTables.of(results, output)
    if tables is None:
        raise ValueError("no two tables give its sums exactly")
    return VectorOperation(tables=tables, operand=operand, pair=True)


def _parts(codes: Array) -> Iterator[Array]:
    """The codes in groups so small that a kernel computes each as a tail."""
    for at in range(0, len(codes), _TAILS):
        yield codes[at : at + _TAILS]


def _entries(whole: Array, parts: Iterator[Array]) -> Array:
    """The result of each code, which must not depend on how many elements there are."""
    if (np.concatenate(list(parts)) != whole).any():
        raise ValueError("onnxruntime's results depend on the number of elements")
    return whole
