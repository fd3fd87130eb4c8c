"""Nodes with many inputs or outputs, stated as nodes that the vector unit can take: a Split as a Slice for each output,
a concatenation of many as concatenations of two.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...onnx.node import attribute, is_operator
from ...onnx.rebuilt import rebuilt
from ...onnx.runtime import Session
from ..host import watched
from ..lowering import Lowered
from ..operations import Array

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["with_single_outputs"]

_PREFIX = "systoliq/part"  # of the names that are added


def with_single_outputs(model: Lowered, feed: Mapping[str, Array]) -> Lowered:
    """Return `model` without Split and without concatenations of more than two tensors, or `model` itself if it has
    none; shapes are those for the inputs `feed`. Every tensor of `model` has the same numbers as before.
    """
    nodes = model.model.graph.node
    splits = [node for node in nodes if is_operator(node, "Split")]
    if not splits and not any(map(_is_long, nodes)):
        return model
    names = [name for node in splits for name in node.output]
    given = Session(watched(model.model, names), str(model.path), as_it_is=True).run(names, feed) if names else {}
    shapes = {name: array.shape for name, array in given.items()}
    constants: dict[str, Array] = {}
    found: list[NodeProto] = []
    for node in nodes:
        if is_operator(node, "Split"):
            found += _slices(node, shapes, constants)
        elif _is_long(node):
            found += _pairs(node)
        else:
            found.append(node)
    return dataclasses.replace(model, model=rebuilt(model.model, found, constants))


_PARTS = {"Concat": (1, 2), "QLinearConcat": (3, 8)}
"""Inputs of one tensor, and of a node with two."""


def _is_long(node: NodeProto) -> bool:
    """True if `node` joins more than two tensors."""
    return node.op_type in _PARTS and len(node.input) > _PARTS[node.op_type][1]


def _slices(node: NodeProto, shapes: Mapping[str, tuple[int, ...]], constants: dict[str, Array]) -> Iterator[NodeProto]:
    axis, at = int(attribute(node, "axis", 0)), 0
    for output in node.output:
        end = at + shapes[output][axis]
        names = []
        for what, number in (("start", at), ("end", end), ("axis", axis)):
            names.append(name := f"{_PREFIX}/{output}/{what}")
            constants[name] = np.array([number], np.int64)
        yield _node("Slice", [node.input[0], *names], output, name=output)
        at = end


def _pairs(node: NodeProto) -> Iterator[NodeProto]:
    """The first two, then their result with the next, and so on; a result has the scale of the whole."""
    size, _ = _PARTS[node.op_type]
    head = list(node.input[:2]) if size == 3 else []
    parts = [list(node.input[i : i + size]) for i in range(len(head), len(node.input), size)]
    before = parts[0]
    for index, part in enumerate(parts[1:], 1):
        last = index == len(parts) - 1
        y = node.output[0] if last else f"{_PREFIX}/{node.output[0]}/{index}"
        name = node.name if last else f"{node.name}/{index}"
        yield _node(
            node.op_type,
            [*head, *before, *part],
            y,
            name=name,
            domain=node.domain,
            axis=int(attribute(node, "axis", 1)),
        )
        before = [y, *head]


def _node(operator: str, inputs: list[str], output: str, **attributes: Any) -> NodeProto:
    from onnx import helper

    return helper.make_node(operator, inputs, [output], **attributes)
