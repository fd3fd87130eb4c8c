"""Order of a model's nodes: each behind those whose results it takes, as ONNX asks and not every exporter writes it."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import InputError
from .functions import all_nodes, tensors_taken
from .node import label

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto

__all__ = ["sort_nodes"]

_LISTED = 6  # nodes of a cycle in an error


def sort_nodes(model: ModelProto) -> bool:
    """Sort the nodes of `model`, of its functions and of the bodies of If, Loop and Scan; return whether any moved.

    Nodes keep their order where their inputs allow it. Raises InputError, which names the nodes, if some form a cycle
    or two make one tensor.
    """
    moved = False
    for holder in (model.graph, *model.functions):
        for nodes in (*(body.node for body in _bodies(holder.node)), holder.node):
            order = _order(nodes)
            if order != list(range(len(nodes))):
                kept = type(model.graph)(node=[nodes[place] for place in order])
                del nodes[:]
                nodes.extend(kept.node)
                moved = True
    return moved


def _bodies(nodes: Sequence[NodeProto]) -> list[GraphProto]:
    """The graphs inside `nodes`, at any depth, the innermost first, because moving a node copies its contents."""
    found = [
        body
        for node in all_nodes(nodes)
        for given in node.attribute
        for body in (*([given.g] if given.HasField("g") else []), *given.graphs)
    ]
    return found[::-1]


def _order(nodes: Sequence[NodeProto]) -> list[int]:
    """Places of `nodes` in the order in which they compute."""
    makers: dict[str, int] = {}
    for place, node in enumerate(nodes):
        for name in filter(None, node.output):
            if makers.setdefault(name, place) != place:
                twice = f"{label(nodes[makers[name]])} and {label(node)}"
                raise InputError(f"the tensor {name!r} must be the result of one node, not of both {twice}")
    waits = [{makers[name] for name in tensors_taken(node) if name in makers} for node in nodes]
    users: list[list[int]] = [[] for _ in nodes]
    for place, needed in enumerate(waits):
        for each in needed:
            users[each].append(place)
    left = [len(needed) for needed in waits]
    ready = [place for place, count in enumerate(left) if not count]
    order: list[int] = []
    while ready:
        order.append(heapq.heappop(ready))
        for user in users[order[-1]]:
            left[user] -= 1
            if not left[user]:
                heapq.heappush(ready, user)
    if len(order) < len(nodes):
        raise InputError(_cycle(nodes, waits, set(range(len(nodes))) - set(order)))
    return order


def _cycle(nodes: Sequence[NodeProto], waits: Sequence[set[int]], stuck: set[int]) -> str:
    """A cycle among the `stuck` nodes, each of which depends on another one of them."""
    path: dict[int, None] = {}
    place = min(stuck)
    while place not in path:
        path[place] = None
        place = min(waits[place] & stuck)
    cycle = [*path][[*path].index(place) :][::-1]  # in the direction of the data
    first = cycle.index(min(cycle))
    names = [label(nodes[place]) for place in (*cycle[first:], *cycle[: first + 1])]
    if len(names) > _LISTED:
        names[_LISTED - 2 : -1] = [f"{len(names) - _LISTED + 1} more"]
    return f"its nodes must not form a cycle: {' -> '.join(names)}"
