"""Additions: two tables and a sum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from amaranth.lib import wiring

from systoliq.golden import network

from ..addition import SumOfTables
from ..memory import Memory
from ..operator import Arrays
from ..pair_operator import PairOperator
from ..parallelism import Parallelism
from ..recipe import Recipe

__all__ = ["AdditionOperator"]


class AdditionOperator(PairOperator[network.Addition]):
    """Each operand by a table of its own, and their sum rounded and saturated."""

    node_type = network.Addition

    def build(self, recipe: Recipe) -> wiring.Component:
        """Lanes of two tables and a sum. Raises ValueError if no two tables give all sums exactly."""
        tables = self.sum_tables("sums")
        operand = self.node.inputs[0].format

        def lane(kind: str) -> SumOfTables:
            return SumOfTables(tables, operand, cells=recipe.cells, kind=kind)

        return self.build_pairwise(lane, recipe)

    def table_memory(self, lanes: int) -> Memory:
        return Memory(256, 16, constant=True, count=2 * lanes)

    def parts(self, parallelism: Parallelism) -> Mapping[str, int]:
        return {**super().parts(parallelism), "table_sum": parallelism.cols}

    def arrays(self, stage: Any) -> Arrays:
        return {**super().arrays(stage), "exchanged": np.array(self.node.exchanged)}

    def claims(self, stage: Any) -> dict[str, Any]:
        core = getattr(stage, "core", stage)
        results = core.lanes[0].tables.apply(*np.divmod(np.arange(1 << 16), 1 << 8))
        return {**self.pair_claims(stage, results), "exchanged": self.node.exchanged}
