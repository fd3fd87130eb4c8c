"""Scales of a model that are zero, negative, infinite or NaN, by the names of their tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..odd_scales import ODD_RESULTS, odd_scales
from .catalogue import CATALOGUE
from .graph import Graph
from .node import NotTakenError, label

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["scale_notes_of"]


def scale_notes_of(graph: Graph) -> list[str]:
    """A note for each constant scale of `graph` that is not positive and finite: its tensor, the first node that takes
    it, and the channels.
    """
    takers: dict[str, NodeProto] = {}
    for node in graph.graph.node:
        for name in CATALOGUE.of(node).scales(node):
            takers.setdefault(name, node)
    notes = []
    for name, node in takers.items():
        odd = _odd(graph, name)
        if odd is not None:
            notes.append(f"the scale {name!r} of {label(node)} {odd}: {ODD_RESULTS}")
    return notes


def _odd(graph: Graph, name: str) -> str | None:
    if not graph.is_constant(name):
        return None
    try:
        return odd_scales(graph.constant(name, "a scale"))
    except NotTakenError:  # of a type that no scale can have, which those say that read the node
        return None
