"""Followers of a product in its model: whether its outputs are the network's, or go into other layers."""

from __future__ import annotations

from .catalogue import CATALOGUE
from .graph import Graph

__all__ = ["following_layers"]


def following_layers(graph: Graph, name: str) -> list[str]:
    """Names of the layers, in the model's order, that the outputs of the product `name` go into, at any depth.

    Empty if it is the last.
    """
    left = [
        node.output[0]
        for node in graph.graph.node
        if CATALOGUE.of(node).is_product and name in (node.name, node.output[0])
    ]
    seen: set[str] = set()
    found: dict[int, str] = {}
    while left:
        tensor = left.pop()
        for node in graph.consumers(tensor):
            if CATALOGUE.of(node).is_product:
                found[graph.place(node)] = node.name or node.output[0]
            left += [each for each in node.output if each and each not in seen]
            seen |= set(node.output)
    return [found[place] for place in sorted(found)]
