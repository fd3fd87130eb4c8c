"""Names in a model: text, which the onnx library does not check."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..errors import InputError
from .functions import all_nodes

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto

__all__ = ["check_names"]


def check_names(model: ModelProto) -> None:
    """An InputError for a name of a node, a tensor or an operator in `model` that is not text in UTF-8."""
    for kind, name in _names(model):
        if not isinstance(name, str):
            raise InputError(f"the name of {kind} must be text in UTF-8, not {name!r}")


def _names(model: ModelProto) -> Iterator[tuple[str, object]]:
    """Each name in `model` with its kind; a name that is not UTF-8 is bytes."""
    for function in model.functions:
        yield from (("a function", name) for name in (function.name, function.domain))
        yield from (("a tensor", name) for name in (*function.input, *function.output))
        yield from _of_nodes([*function.node])
    yield from _of_graph(model.graph)


def _of_graph(graph: GraphProto) -> Iterator[tuple[str, object]]:
    for each in (*graph.input, *graph.output, *graph.initializer, *graph.value_info):
        yield "a tensor", each.name
    yield from _of_nodes([*graph.node])


def _of_nodes(nodes: list[NodeProto]) -> Iterator[tuple[str, object]]:
    for node in all_nodes(nodes):
        yield "an operator", node.op_type
        yield "a domain", node.domain
        yield "a node", node.name
        yield from (("a tensor", name) for name in (*node.input, *node.output))
        yield from (("an attribute", given.name) for given in node.attribute)
