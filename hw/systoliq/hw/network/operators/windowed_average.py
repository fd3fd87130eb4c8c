"""Averages of windows: products with weights of one where the order of pixels cannot matter, else float32 additions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from systoliq.golden import network
from systoliq.golden.formats import signed_bits
from systoliq.golden.network.real_sums import RealSums

from ..average_operator import AverageOperator
from ..memory import Memory
from ..operator import Arrays, BuiltProduct
from ..parallelism import Parallelism
from ..real_average import RealAverage
from ..real_sum import ADDITION, RealSum
from ..recipe import Recipe
from ..sliding import Sliding
from ..window_operator import WindowOperator

__all__ = ["WindowedAverageOperator"]


class WindowedAverageOperator(AverageOperator[network.WindowedAverage]):
    """A sum for each channel of a window: of integers, or in float32. Windows must count the same number of pixels."""

    node_type = network.WindowedAverage

    @cached_property
    def sums(self) -> RealSums | None:
        """The sums in float32; None if integer sums give all results, or if there is no hardware."""
        try:
            return None if self.node.uncertain_sum is None else RealSums.of(self.node)
        except ValueError:
            return None

    @cached_property
    def requantizer_factors(self) -> tuple[int, int]:
        """Bits of sums and of the mantissa, or of both factors of the estimate."""
        if self.sums is None:
            return super().requantizer_factors
        return max(self.sums.bits - self.sums.drop, 2), max(self.sums.multiplier.bit_length(), 1)

    def image_cycles(self, parallelism: Parallelism) -> int:
        usual = super().image_cycles(parallelism)
        if self.sums is None:
            return usual
        windows = self.windows
        beats = windows.channels // parallelism.cols
        return max(usual, ADDITION * math.prod(windows.out) * math.prod(windows.window.kernel) * beats)

    def multipliers(self, parallelism: Parallelism) -> int:
        return super().multipliers(parallelism) if self.sums is None else 0

    def lanes(self, parallelism: Parallelism) -> int:
        return super().lanes(parallelism) if self.sums is None else parallelism.cols

    def own_memories(self, parallelism: Parallelism, cells: str) -> Iterator[Memory]:
        """Yield lines of the image, and the memories of lanes: in float32 numbers, thresholds and results that wait."""
        sums, lanes = self.sums, parallelism.cols
        if sums is None:
            yield from super().own_memories(parallelism, cells)
            return
        yield from WindowOperator.own_memories(self, parallelism, cells)
        yield Memory(256, signed_bits(*sums.tables[0]), constant=True, count=lanes)
        yield Memory(255, sums.bits, constant=True, count=lanes)
        yield Memory(32, 8 * lanes + 1)

    def parts(self, parallelism: Parallelism) -> Mapping[str, int]:
        lane = "mean_requantizer" if self.sums is None else "real_sum"
        return {"sequence": 1, **self.window_parts(parallelism), lane: self.lanes(parallelism)}

    def build(self, recipe: Recipe) -> Sliding:
        node = self.node
        if node.uncertain_sum is None:
            return super().build(recipe)
        sums, form, kind = RealSums.of(node), node.inputs[0].format, "average"
        lanes = [
            RealSum(sums, form, cells=recipe.cells, lane_cells=recipe.lane_cells, kind=f"{kind}_lane")
            for _ in range(recipe.lanes(self.windows.channels))
        ]
        beats = math.prod(node.window.kernel)
        core = RealAverage(lanes, form, beats=beats, cells=recipe.cells, kind=kind)
        return Sliding(self.windows, core, padding=node.inputs[0].zero_point, cells=recipe.cells, kind=recipe.kind)

    def arrays(self, stage: Sliding) -> Arrays:
        return {**super().arrays(stage), "pixels": np.array(self.node.pixels)}

    def product(self, stage: Sliding) -> BuiltProduct | None:
        """Return the product of sums of integers."""
        return super().product(stage) if self.sums is None else None

    def claims(self, stage: Any) -> dict[str, Any]:
        """Return that additions in float32 are tested."""
        return {"verdict": "tested", "formats": self.formats}
