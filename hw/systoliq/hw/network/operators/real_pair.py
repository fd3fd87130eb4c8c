"""Pairs of real numbers: a sum or difference of two tables, a minimum or maximum as the extremum of two tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from amaranth.lib import wiring

from systoliq.golden import network

from ..addition import SumOfTables
from ..extremum import ExtremumOfTables
from ..memory import Memory
from ..operator import Arrays
from ..pair_operator import PairOperator
from ..parallelism import Parallelism
from ..recipe import Recipe

__all__ = ["RealPairOperator"]

_SUMS = ("sum", "difference")


class RealPairOperator(PairOperator[network.RealPair]):
    """Each operand by a table of its own. As QuantizeLinear rises, the extremum may come after it."""

    node_type = network.RealPair

    def build(self, recipe: Recipe) -> wiring.Component:
        """Lanes of two tables, and their sum or extremum. Raises ValueError if no two tables give all sums."""
        node = self.node
        operand, output = node.inputs[0].format, node.output.format
        if node.function in _SUMS:
            tables = self.sum_tables(f"{node.function}s")
            return self.build_pairwise(lambda kind: SumOfTables(tables, operand, cells=recipe.cells, kind=kind), recipe)
        a, b = (node.output.quantize(tensor.dequantize(tensor.codes)).tolist() for tensor in node.inputs)
        greater = node.function == "maximum"

        def lane(kind: str) -> ExtremumOfTables:
            return ExtremumOfTables((a, b), operand, output, greater=greater, cells=recipe.cells, kind=kind)

        return self.build_pairwise(lane, recipe)

    def table_memory(self, lanes: int) -> Memory:
        bits = 16 if self.node.function in _SUMS else 8
        return Memory(256, bits, constant=True, count=2 * lanes)

    def parts(self, parallelism: Parallelism) -> Mapping[str, int]:
        return {**super().parts(parallelism), "table_sum": parallelism.cols}

    def arrays(self, stage: Any) -> Arrays:
        return {**super().arrays(stage), "function": np.array(self.node.function.encode())}

    def claims(self, stage: Any) -> dict[str, Any]:
        return {**self.pair_claims(stage, self.all_pairs()), "function": self.node.function}
