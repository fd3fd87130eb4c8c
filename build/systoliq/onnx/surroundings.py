"""Surroundings of a product that gives sums: how A is made of real numbers, and what becomes of the sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .graph import Graph
from .host import DYNAMIC, STATIC, HostPart, Step
from .node import NotTakenError, attribute, is_operator
from .part import part_of
from .quantized import Parameters

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["float_host_part", "fused_host_part", "host_part"]


def host_part(graph: Graph, node: NodeProto, n: int) -> HostPart:
    """The host's part of the MatMulInteger `node` with `n` columns: DynamicQuantizeLinear before it; behind it a Cast,
    and each Mul by constants and a_scale and each Add of a constant. Later nodes, and nodes with several uses, are left
    to the model.
    """
    quantizer = _quantizer(graph, node)
    before = None if quantizer is None else DYNAMIC
    user = _user(graph, node.output[0])
    real = user is not None and _gives_float32(user)
    steps: list[Step] = []
    nodes = [node]
    if user is not None and real:
        nodes.append(user)
        steps = _follow(graph, nodes, "" if quantizer is None else quantizer.output[1], n)
    model = None
    if quantizer is not None:
        model = partial(part_of, graph, [quantizer, *nodes], quantizer.input[0], nodes[-1].output[0])
    return HostPart(before=before, real=real, steps=tuple(steps), model=model)


def float_host_part(graph: Graph, node: NodeProto, b: Parameters) -> HostPart:
    """The host's part of a Gemm or MatMul in QDQ form whose result stays float: the product of both scales makes the
    sums real. Later nodes are left to the model.
    """
    scales = Step(operator="Mul", constant=b.scale.reshape(-1), scaled=True)
    dequantizer = graph.producer(node.input[0])
    quantizer = graph.producer(dequantizer.input[0]) if dequantizer is not None else None
    model = None
    if quantizer is not None and is_operator(quantizer, "QuantizeLinear"):
        model = partial(_float_part, graph, node, quantizer.input[0])
    return HostPart(before=STATIC, real=True, steps=(scales,), model=model)


def fused_host_part(graph: Graph, node: NodeProto, fields: Mapping[str, Any], bias: str, n: int) -> HostPart:
    """The host's part of the DynamicQuantizeMatMul or MatMulIntegerToFloat `node` with `n` columns."""
    steps = [Step(operator="Mul", constant=fields["b_scale"].reshape(-1), scaled=True)]
    if bias:
        if not _fits(graph, bias, n):
            raise NotTakenError(f"the bias must be a float32 constant of shape [{n}], not from {graph.source(bias)}")
        steps.append(Step(operator="Add", constant=graph.constant(bias, "the bias"), scaled=False))
    before, nodes = STATIC if "a_scale" in fields else None, [node]
    source = graph.producer(node.input[0])
    if node.op_type == "DynamicQuantizeMatMul":
        before = DYNAMIC
    elif source is not None:
        names = [*node.input, "", ""][2], [*node.input, "", ""][4]  # a_scale, a_zero_point
        if is_operator(source, "DynamicQuantizeLinear") and names == tuple(source.output[1:]):
            before, nodes = DYNAMIC, [source, node]
        elif before == STATIC and is_operator(source, "QuantizeLinear") and names == tuple(source.input[1:]):
            nodes = [source, node]
    model = None
    if before == DYNAMIC or len(nodes) > 1:
        model = partial(part_of, graph, nodes, nodes[0].input[0], node.output[0])
    return HostPart(before=before, real=True, steps=tuple(steps), model=model)


def _quantizer(graph: Graph, node: NodeProto) -> NodeProto | None:
    """The DynamicQuantizeLinear that makes both a and its zero point."""
    source = graph.producer(node.input[0])
    if source is None or not is_operator(source, "DynamicQuantizeLinear") or len(node.input) < 3:
        return None
    return source if [node.input[0], node.input[2]] == [source.output[0], source.output[2]] else None


def _float_part(graph: Graph, node: NodeProto, x: str) -> bytes:
    """The model of the nodes that `node` follows from, after the tensor `x` and constants, and of `node` itself."""
    found, todo = {graph.place(node): node}, [node]
    while todo:
        for name in todo.pop().input:
            source = graph.producer(name)
            if name == x or source is None or graph.is_constant(name) or graph.place(source) in found:
                continue
            found[graph.place(source)] = source
            todo.append(source)
    return part_of(graph, [found[place] for place in sorted(found)], x, node.output[0])


def _user(graph: Graph, name: str) -> NodeProto | None:
    """The one node that uses the tensor `name`; None where there are others, or it leaves the graph."""
    users = graph.consumers(name)
    return users[0] if len(users) == 1 and not graph.is_output(name) else None


def _gives_float32(node: NodeProto) -> bool:
    from onnx import TensorProto

    return is_operator(node, "Cast") and attribute(node, "to") == TensorProto.FLOAT


def _follow(graph: Graph, nodes: list[NodeProto], a_scale: str, n: int) -> list[Step]:
    """The steps behind the last of `nodes`; their nodes, and those that they need, are added to these."""
    steps: list[Step] = []
    while (user := _user(graph, name := nodes[-1].output[0])) is not None:
        step, needed = _step(graph, user, name, a_scale, n)
        if step is None:
            break
        steps.append(step)
        nodes += [*needed, user]
    return steps


def _step(
    graph: Graph, node: NodeProto, name: str, a_scale: str, n: int
) -> tuple[Step | None, Sequence[NodeProto]]:  # fmt: skip
    """The step that `node` takes with the tensor `name`, and the product of a_scale and a constant that it needs."""
    if not is_operator(node, "Mul", "Add"):
        return None, ()
    other = node.input[1] if node.input[0] == name else node.input[0]
    if _fits(graph, other, n):
        return Step(operator=node.op_type, constant=graph.constant(other, "a constant"), scaled=False), ()
    if node.op_type == "Add" or not a_scale:
        return None, ()
    if other == a_scale:
        return Step(operator="Mul", constant=None, scaled=True), ()
    product = graph.producer(other)
    if product is None or not is_operator(product, "Mul") or a_scale not in product.input:
        return None, ()
    factor = product.input[1] if product.input[0] == a_scale else product.input[0]
    if not _fits(graph, factor, n):
        return None, ()
    return Step(operator="Mul", constant=graph.constant(factor, "b_scale"), scaled=True), (product,)


def _fits(graph: Graph, name: str, n: int) -> bool:
    """True if the tensor `name` is a float32 constant, one number or one for each of N columns."""
    if not graph.is_constant(name):
        return False
    found = graph.constant(name, "a constant")
    return found.dtype == np.float32 and (found.size == 1 or (found.size == n and found.shape[-1] == n))
