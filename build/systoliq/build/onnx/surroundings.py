"""Surroundings of a MatMulInteger: where its zero point of A comes from, and what becomes of its sums."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .graph import Graph, attribute, is_operator
from .host import HostPart, Step
from .part import part_of

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["host_part"]


def host_part(graph: Graph, node: NodeProto, n: int) -> HostPart:
    """Of the MatMulInteger `node` with `n` columns: DynamicQuantizeLinear before it; behind it a Cast, and each Mul by
    constants and a_scale and each Add of a constant. What comes then, or is used more than once, is left to the model.
    """
    quantizer = _quantizer(graph, node)
    x, a_scale = ("", "") if quantizer is None else (quantizer.input[0], quantizer.output[1])
    nodes = [node] if quantizer is None else [quantizer, node]
    steps: list[Step] = []
    real, name = False, node.output[0]
    while (user := _user(graph, name)) is not None:
        if real:
            step, product = _step(graph, user, name, a_scale, n)
            if step is None:
                break
            steps.append(step)
            nodes += [] if product is None else [product]
        elif not _gives_float32(user):
            break
        real = True
        nodes.append(user)
        name = user.output[0]
    model = None if quantizer is None else partial(part_of, graph, nodes, x, name)
    return HostPart(quantizes=quantizer is not None, real=real, steps=tuple(steps), model=model)


def _quantizer(graph: Graph, node: NodeProto) -> NodeProto | None:
    """The DynamicQuantizeLinear that makes both a and its zero point."""
    source = graph.producer(node.input[0])
    if source is None or not is_operator(source, "DynamicQuantizeLinear") or len(node.input) < 3:
        return None
    return source if [node.input[0], node.input[2]] == [source.output[0], source.output[2]] else None


def _user(graph: Graph, name: str) -> NodeProto | None:
    """The one node that uses the tensor `name`; None where there are others, or it leaves the graph."""
    users = graph.consumers(name)
    return users[0] if len(users) == 1 and not graph.is_output(name) else None


def _gives_float32(node: NodeProto) -> bool:
    from onnx import TensorProto

    return is_operator(node, "Cast") and attribute(node, "to") == TensorProto.FLOAT


def _step(
    graph: Graph, node: NodeProto, name: str, a_scale: str, n: int
) -> tuple[Step | None, NodeProto | None]:  # fmt: skip
    """The step that `node` takes with the tensor `name`, and the product of a_scale and a constant that it needs."""
    if not is_operator(node, "Mul", "Add"):
        return None, None
    other = node.input[1] if node.input[0] == name else node.input[0]
    if _fits(graph, other, n):
        return Step(operator=node.op_type, constant=graph.constant(other, "a scale"), scaled=False), None
    if node.op_type == "Add" or not a_scale:
        return None, None
    if other == a_scale:
        return Step(operator="Mul", constant=None, scaled=True), None
    product = graph.producer(other)
    if product is None or not is_operator(product, "Mul") or a_scale not in product.input:
        return None, None
    factor = product.input[1] if product.input[0] == a_scale else product.input[0]
    if not _fits(graph, factor, n):
        return None, None
    return Step(operator="Mul", constant=graph.constant(factor, "b_scale"), scaled=True), product


def _fits(graph: Graph, name: str, n: int) -> bool:
    """Whether the tensor `name` is a float32 constant, one number or one for each of N columns."""
    if not graph.is_constant(name):
        return False
    found = graph.constant(name, "a constant")
    return found.dtype == np.float32 and (found.size == 1 or (found.size == n and found.shape[-1] == n))
