"""Steps of the vector unit in a lowered graph: additions, functions of single elements as tables, maxima, and moves.

What such nodes compute is what onnxruntime computes for all codes, so that nothing of its kernels is guessed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

from systoliq.golden.formats import IntFormat
from systoliq.golden.network import Multiplication, Tensor
from systoliq.golden.network.sum_tables import SumTables
from systoliq.hw.dma.vector_commands import ProductOperation, VectorOperation

from ...onnx.graph import Graph
from ...onnx.network.functions import FUNCTIONS
from ...onnx.node import is_operator
from ..lowering import Lowered
from ..operations import Array
from ..products import reason_for_host
from ..steps import VectorStep, label_of
from .by_onnxruntime import by_onnxruntime, entries_of
from .channel_steps import channel_step, channel_work, is_of_channels
from .moves import JOINS, MOVES, move, moved_inputs
from .pieces import NotCompiledError
from .pools import MAX_POOLS, max_pool
from .row_steps import is_of_rows, row_step, row_work
from .vector_work import VectorWork

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["vector_steps", "work_of"]

_ELEMENTWISE = {*FUNCTIONS, "Add", "Sub", "Mul", "Div", "QuickGelu"}
_PRODUCT = "QLinearMul"
_OF_TWO = ("QLinearAdd", _PRODUCT)
_OF_ONE = ("QLinearSigmoid", "QLinearLeakyRelu")
_MOST_INPUTS = 2  # of a step
_DRAWS = 8  # of all inputs, to compare


def vector_steps(model: Lowered, *, rows: bool = False) -> tuple[VectorStep, ...]:
    """The steps of `model` that the vector unit may compute, in the order of their last nodes; none share a node. With
    `rows`, it computes rows, too.
    """
    graph = model.graph
    steps: list[VectorStep] = []
    for node in graph.graph.node:
        of_rows = row_step(graph, node) if rows else None
        if of_rows is not None:
            found: VectorStep | None = of_rows
        elif node.op_type in _OF_TWO:
            found = _of_two(graph, node, steps) or channel_step(graph, node) or _product(graph, node)
        elif node.op_type in _OF_ONE:
            found = _step(graph, (node,), (node.input[0],), node.input[1:])
        elif is_operator(node, "QuantizeLinear"):
            found = _function(graph, node) or channel_step(graph, node)
        else:
            found = None
        steps += [found] if found else []
    last = {node.output[0]: place for place, node in enumerate(graph.graph.node)}
    steps += _between(graph, _moving(graph), steps)
    return tuple(sorted(steps, key=lambda step: last[step.output]))


def _of_two(graph: Graph, node: NodeProto, steps: list[VectorStep]) -> VectorStep | None:
    """The step of a sum, or of a product whose operands both come from one tensor; the functions before it, which it
    takes out of `steps`, are part of it if it has no other tensor. One operand may be constant: of a product a number.
    """
    names, parameters = (node.input[0], node.input[3]), (*node.input[1:3], *node.input[4:])
    constant = [name for name in names if graph.is_constant(name)]
    if constant:
        computed = tuple(name for name in names if name not in constant)
        if len(constant) == 1 and _is_number(graph, constant[0]):
            return _step(graph, (node,), computed, parameters)
        if len(constant) == 1 and node.op_type == "QLinearAdd":
            return _step(graph, (node,), names, parameters, constant=constant[0])
        return None
    first, second = (_functions_before(graph, name, steps) for name in names)
    common = next((name for name in first if name in second), None)
    if common is None:
        return None if node.op_type == _PRODUCT else _step(graph, (node,), names, parameters)
    found = _step(graph, (node,), (common,), parameters)
    if found is None:
        return None
    inside = dict.fromkeys((*first[common], *second[common]))
    steps[:] = [step for step in steps if step not in inside]
    own = {each.output[0] for step in inside for each in step.nodes}
    nodes = (*(each for each in graph.graph.node if each.output[0] in own), node)
    return VectorStep(name=found.name, nodes=nodes, inputs=(common,))


def _product(graph: Graph, node: NodeProto) -> VectorStep | None:
    """The step of a product of two computed tensors, unless the array takes it."""
    if node.op_type != _PRODUCT or reason_for_host(graph, node, memory=True) is None:
        return None
    return _step(graph, (node,), (node.input[0], node.input[3]), (*node.input[1:3], *node.input[4:]))


def _functions_before(graph: Graph, name: str, steps: list[VectorStep]) -> dict[str, tuple[VectorStep, ...]]:
    """The tensors of whose single elements `name` is a function, itself first, each with the `steps` from it on, as far
    as the tensors between have no other use.
    """
    by_output = {step.output: step for step in steps if len(step.inputs) == 1}
    found: dict[str, tuple[VectorStep, ...]] = {name: ()}
    while name in by_output and graph.has_one_use(name):
        step = by_output[name]
        found[step.inputs[0]] = (*found[name], step)
        name = step.inputs[0]
    return found


def _moving(graph: Graph) -> list[VectorStep]:
    """Maxima of windows, and nodes that move elements of one or two tensors together with those before them."""
    found: dict[str, VectorStep] = {}
    for node in graph.graph.node:
        if node.op_type in MAX_POOLS:
            found[node.output[0]] = VectorStep(name=label_of(node), nodes=(node,), inputs=(node.input[0],))
        elif node.op_type in MOVES:
            names = moved_inputs(node)
            if any(name and name not in names and name not in graph.initializers for name in node.input):
                continue  # it moves elements to computed places
            before = {
                name: found[name]
                for name in names
                if name in found and found[name].nodes[-1].op_type in MOVES and graph.has_one_use(name)
            }
            if any(graph.is_output(name) for name in before):
                before = {}
            inputs = tuple(dict.fromkeys(each for name in names for each in _inputs(name, before)))
            if len(inputs) > _MOST_INPUTS or (before and any(map(graph.is_constant, inputs))):
                before, inputs = {}, names
            computed = [name for name in inputs if not graph.is_constant(name)]
            joins = node.op_type in JOINS and bool(computed)
            if len(inputs) > _MOST_INPUTS or not (joins or len(computed) == len(inputs)):
                continue
            nodes = (*(each for step in before.values() for each in step.nodes), node)
            for name in before:
                del found[name]
            found[node.output[0]] = VectorStep(name=label_of(node), nodes=nodes, inputs=inputs)
    return list(found.values())


def _inputs(name: str, before: Mapping[str, VectorStep]) -> tuple[str, ...]:
    return before[name].inputs if name in before else (name,)


def _between(graph: Graph, steps: list[VectorStep], others: Collection[VectorStep]) -> list[VectorStep]:
    """Return the `steps` that take a tensor of the engine and give one to it, with products and `others`."""
    engine = [node for node in graph.graph.node if reason_for_host(graph, node, memory=True) is None]
    made = {node.output[0] for node in engine} | {step.output for step in others}
    taken = {name for node in engine for name in node.input} | {name for step in others for name in step.inputs}
    kept = steps
    while True:
        outputs = made | {step.output for step in kept}
        inputs = taken | {name for step in kept for name in step.inputs}
        found = [step for step in kept if outputs.intersection(step.inputs) and step.output in inputs]
        if len(found) == len(kept):
            return found
        kept = found


def _step(
    graph: Graph,
    nodes: tuple[NodeProto, ...],
    inputs: tuple[str, ...],
    parameters: tuple[str, ...],
    constant: str | None = None,
) -> VectorStep | None:
    """A step, if its inputs are computed bytes, but for the one that is `constant`, and its parameters are constant
    numbers.
    """
    if any(graph.is_constant(name) for name in inputs if name != constant) or not all(
        _is_number(graph, name) for name in parameters
    ):
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


def work_of(model: Lowered, step: VectorStep, tensors: Mapping[str, Array], longest: int = 0) -> VectorWork:
    """The work of `step`, whose tensors have the types and shapes of `tensors`; rows have up to `longest` elements.

    Raises NotCompiledError if the unit has none.
    """
    given, y = [tensors[name] for name in step.inputs], tensors[step.output]
    try:
        if any(x.dtype not in (np.int8, np.uint8) for x in (*given, y)):
            raise ValueError("its tensors must be int8 or uint8")
        if any(x.dtype != given[0].dtype or not x.ndim or not x.size for x in given) or not y.ndim or not y.size:
            raise ValueError("its inputs must have one type, and elements")
        if is_of_rows(step):
            return row_work(model, step, tensors, longest)
        if is_of_channels(model, step):
            return channel_work(model, step, tensors)
        if step.node.op_type in MOVES:
            return move(model, step, given, y)
        if step.node.op_type in MAX_POOLS:
            return max_pool(step.node, given, y)
        operation = _operation(model, step, tensors)
        work = VectorWork.elementwise(operation, y.shape, [x.shape for x in given])
        _check(model, step, work, given)
        return work
    except ValueError as error:
        raise NotCompiledError(str(error)) from error


def _operation(model: Lowered, step: VectorStep, tensors: Mapping[str, Array]) -> VectorOperation | ProductOperation:
    """The same; ValueError if there is none."""
    given = [tensors[name] for name in step.inputs]
    y = tensors[step.output]
    operand, output = IntFormat.of(given[0].dtype), IntFormat.of(y.dtype)
    codes = np.arange(operand.min, operand.max + 1).astype(operand.dtype)
    run = by_onnxruntime(model, step)

    def apply(*arrays: Array) -> Array:
        return run(*(array.reshape(*[1] * (y.ndim - 1), -1) for array in arrays)).reshape(-1)

    if len(given) == 1:
        return VectorOperation.lookup(entries_of(apply, codes), operand, output)
    pairs = np.repeat(codes, 256), np.tile(codes, 256)
    results = apply(*pairs).reshape(256, 256)
    if step.node.op_type == _PRODUCT:
        product = _product_of(model, step, operand, output)
        if (product.apply(*pairs) != results.reshape(-1)).any():
            raise ValueError("its products differ from the unit's")
        return product
    tables = SumTables.of(results, output)
    if tables is None:
        raise ValueError("no two tables give its sums exactly")
    return VectorOperation(tables=tables, operand=operand, pair=True)


def _product_of(model: Lowered, step: VectorStep, operand: IntFormat, output: IntFormat) -> ProductOperation:
    """The product with the scales and zero points of its node."""
    names = step.node.input
    tensors = []
    for name, scale, zero_point, form in zip(
        "aby", (names[1], names[4], names[6]), (names[2], names[5], (*names, "")[7]), (operand, operand, output),
        strict=True,
    ):  # fmt: skip
        number = model.graph.constant(scale, "a scale").reshape(-1)[0]
        zero = int(model.graph.constant(zero_point, "a zero point").reshape(-1)[0]) if zero_point else 0
        tensors.append(Tensor(name=name, shape=(1,), format=form, scale=np.float32(number), zero_point=zero))
    a, b, y = tensors
    return ProductOperation(node=Multiplication(name=step.name, inputs=(a, b), output=y))


def _check(model: Lowered, step: VectorStep, work: VectorWork, given: list[Array]) -> None:
    """Compare `work` with onnxruntime for inputs of different shapes, which it may compute by another kernel."""
    if len({x.shape for x in given}) == 1:
        return
    run = by_onnxruntime(model, step)
    rng, form = np.random.default_rng(1), work.operand
    for _ in range(_DRAWS):
        drawn = [rng.integers(form.min, form.max + 1, x.shape).astype(x.dtype) for x in given]
        if (run(*drawn) != work.apply(*drawn)).any():
            raise ValueError("onnxruntime's results depend on the shapes of its inputs")
