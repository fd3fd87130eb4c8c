"""Regions of a graph between two integer tensors: which nodes compute one from the other and constants alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..onnx.catalogue import CATALOGUE
from ..onnx.functions import tensors_taken
from ..onnx.graph import Graph

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["Nodes", "Region", "Regions"]

Nodes = npt.NDArray[np.bool_]
"""One flag per node of a graph."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Region:
    """The nodes that compute the integer tensor `end` from the integer tensor `start` and constants alone.

    `nodes` are places in the graph, in order. `multiply_accumulates` counts the operations of the nodes that the rest
    of the model does not need as well.
    """

    start: str
    end: str
    nodes: tuple[int, ...]
    multiply_accumulates: int


class Regions:
    """All regions of `graph`."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.nodes: Sequence[NodeProto] = list(graph.graph.node)
        work = [CATALOGUE.of(node).multiply_accumulates(graph, node) or 0 for node in self.nodes]
        self.work = np.array(work, np.int64)
        self._made = {name: place for place, node in enumerate(self.nodes) for name in node.output if name}
        self._inputs = [list(tensors_taken(node)) for node in self.nodes]

    def _makers(self, names: Iterable[str]) -> list[int]:
        return sorted({self._made[name] for name in names if name in self._made})

    @cached_property
    def constant(self) -> Nodes:
        """Nodes that take no computed tensor: the value of their results stands in the model."""
        initializers = self.graph.initializers
        found = np.zeros(len(self.nodes), bool)
        for place, names in enumerate(self._inputs):
            found[place] = all(
                found[self._made[name]] if name in self._made else name in initializers for name in names
            )
        return found

    @cached_property
    def cuts(self) -> dict[str, int]:
        """The tensors of 8-bit integers that are computed or given, and the place of the node that makes each; -1 for
        inputs of the graph.
        """
        inputs = [each.name for each in self.graph.graph.input if each.name not in self.graph.initializers]
        computed = {name: place for name, place in self._made.items() if not self.constant[place]}
        places = dict.fromkeys(inputs, -1) | computed
        return {name: place for name, place in places.items() if self._is_integer(name)}

    def _is_integer(self, name: str) -> bool:
        kind = self.graph.type_of(name)
        return kind is not None and kind.name in ("int8", "uint8")

    def ancestors(self, names: Iterable[str], stop: Collection[str] = ()) -> Nodes:
        """The nodes that compute the tensors `names`, without those that only compute tensors of `stop`."""
        found = np.zeros(len(self.nodes), bool)
        todo = self._makers(name for name in names if name not in stop)
        while todo:
            place = todo.pop()
            if not found[place]:
                found[place] = True
                todo += self._makers(name for name in self._inputs[place] if name not in stop)
        return found

    @cached_property
    def _ends(self) -> list[tuple[str, Nodes, Nodes]]:
        """Each tensor at which a region may end, the nodes that compute it, and those that the outputs need beside."""
        outputs = [each.name for each in self.graph.graph.output]
        made = [name for name, place in self.cuts.items() if place >= 0]
        return [(name, self.ancestors([name]), self.ancestors(outputs, {name})) for name in made]

    def place(self, name: str) -> int | None:
        """The place of the node that makes the tensor `name`; None if no node does."""
        return self._made.get(name)

    def best(self, blocked: Collection[int], rejected: Collection[tuple[str, str]] = ()) -> Region | None:
        """The region with the most multiply-accumulates, then with the most nodes; None if no region has any.

        `blocked` are places of nodes that no region may have, `rejected` pairs of start and end that it may not be.
        """
        found, most = None, (0, 0)
        for start in self.cuts:
            inside = self._computed_from(start, blocked)
            if self.work[inside].sum() < most[0]:
                continue
            for end, needed, beside in self._ends:
                if not inside[self.cuts[end]] or (start, end) in rejected:
                    continue
                nodes = needed & inside
                size = int(self.work[nodes & ~beside].sum()), int(nodes.sum())
                if size[0] and size > most:
                    found, most = (start, end, nodes), size
        if found is None:
            return None
        start, end, nodes = found
        places = tuple(int(place) for place in np.flatnonzero(nodes))
        return Region(start=start, end=end, nodes=places, multiply_accumulates=most[0])

    def _computed_from(self, start: str, blocked: Collection[int]) -> Nodes:
        """The nodes whose computed inputs all follow from the tensor `start` without a node of `blocked`."""
        found = np.zeros(len(self.nodes), bool)
        for place in range(self.cuts[start] + 1, len(self.nodes)):
            found[place] = (
                place not in blocked
                and not self.constant[place]
                and all(name == start or self._is_known(name, found) for name in self._inputs[place])
            )
        return found

    def _is_known(self, name: str, found: Nodes) -> bool:
        """True if the tensor `name` is a constant or made by a node of `found`."""
        place = self._made.get(name)
        return name in self.graph.initializers if place is None else bool(found[place] or self.constant[place])
