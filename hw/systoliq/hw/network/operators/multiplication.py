"""Multiplications: a product, and the steps of its rescaling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from amaranth.lib import wiring

from systoliq.golden import network

from ..memory import Memory
from ..multiplication import PRODUCT_BITS, SteppedProduct
from ..pair_operator import PairOperator
from ..parallelism import Parallelism
from ..recipe import Recipe

__all__ = ["MultiplicationOperator"]


class MultiplicationOperator(PairOperator[network.Multiplication]):
    """The product of two bytes less their zero points, rescaled by an estimate and a threshold."""

    node_type = network.Multiplication

    @property
    def requantizer_factors(self) -> tuple[int, int]:
        return PRODUCT_BITS, max(self.node.steps.multiplier.bit_length(), 1)

    def multipliers(self, parallelism: Parallelism) -> int:
        return parallelism.cols

    def build(self, recipe: Recipe) -> wiring.Component:
        a, b = self.node.inputs
        points = a.zero_point, b.zero_point

        def lane(kind: str) -> SteppedProduct:
            return SteppedProduct(
                self.node.steps, a.format, points, cells=recipe.cells, lane_cells=recipe.lane_cells, kind=kind
            )

        return self.build_pairwise(lane, recipe)

    def table_memory(self, lanes: int) -> Memory:
        return Memory(255, PRODUCT_BITS, constant=True, count=lanes)

    def parts(self, parallelism: Parallelism) -> Mapping[str, int]:
        return {**super().parts(parallelism), "steps": parallelism.cols}

    def claims(self, stage: Any) -> dict[str, Any]:
        a, b = (np.array(tensor.codes, np.int32) - tensor.zero_point for tensor in self.node.inputs)
        return self.pair_claims(stage, self.node.rescaled(np.multiply.outer(a, b)))
