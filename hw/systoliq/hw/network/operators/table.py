"""Tables: a function of each element."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from systoliq.golden import network

from ..lookup import Lookup
from ..memory import Memory
from ..operator import Arrays, Operator, digest
from ..parallelism import Parallelism
from ..recipe import Recipe

__all__ = ["TableOperator"]


class TableOperator(Operator[network.Table]):
    """A table of 256 entries for each lane."""

    node_type = network.Table

    def build(self, recipe: Recipe) -> Lookup:
        given, made = self.node.inputs[0].format, self.node.output.format
        lanes = recipe.lanes(self.windows.channels)
        return Lookup(self.node.entries.tolist(), given, made, lanes=lanes, cells=recipe.cells, kind=recipe.kind)

    def own_memories(self, parallelism: Parallelism, cells: str) -> Iterator[Memory]:
        """Yield the tables, and a FIFO for results."""
        yield Memory(256, 8, constant=True, count=parallelism.cols)
        yield from super().own_memories(parallelism, cells)

    @property
    def proof(self) -> str:
        return "256 entries"

    def arrays(self, stage: Any) -> Arrays:
        return {**super().arrays(stage), "entries": self.node.entries}

    def claims(self, stage: Lookup) -> dict[str, Any]:
        return {
            "verdict": "exact",
            "formats": self.formats,
            "lanes": stage.lanes,
            "results_sha256": digest(self.node.entries),
        }
