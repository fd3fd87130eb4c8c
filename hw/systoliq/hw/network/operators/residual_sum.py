"""Residual sums: a convolution without a requantizer, and lanes that add another stream and requantize."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from systoliq.golden import network
from systoliq.golden.formats import signed_bits
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.requantization import Requantization
from systoliq.golden.unscaled import Unscaled

from ..dependency import Dependency, waiting_pixels
from ..layer_operator import GroupedOperator
from ..memory import Memory
from ..operator import Arrays, BuiltProduct, Operator
from ..parallelism import Parallelism
from ..recipe import Recipe
from ..residual import Residual, ResidualLane

__all__ = ["ResidualSumOperator"]


class ResidualSumOperator(GroupedOperator[network.ResidualSum]):
    """A product for each group, one after the other, and a sum and a requantizer in each lane."""

    node_type = network.ResidualSum

    @cached_property
    def requantization(self) -> Requantization:
        """The integer constants of every column, exact for every total."""
        output = self.node.output
        scales = np.broadcast_to(self.node.scale, self.layer.n)
        return Requantization.from_scales(scales, output.zero_point, output.format)

    @property
    def total_bits(self) -> int:
        """Bits of every total."""
        return signed_bits(*self.node.totals)

    @property
    def requantizer_factors(self) -> tuple[int, int]:
        """Bits of totals and of the mantissas of scales."""
        return self.total_bits, self.requantization.multiplier_bits

    @property
    def sums_layer(self) -> MatMulLayer:
        """The layer of int32 sums."""
        return self.layer.replace(y_scale=None, y_zero_point=None, y_format=None)

    def build(self, recipe: Recipe) -> Residual:
        node, layer = self.node, self.sums_layer
        dense = self.build_dense(layer, recipe, Unscaled())
        lanes = dense.schedule.lanes
        made = []
        for index in range(lanes):
            columns, kind = range(index, layer.n, lanes), f"{recipe.kind}_lane_{index}"
            constants = _columns(self.requantization, columns)
            made.append(ResidualLane(node, columns, constants, cells=recipe.lane_cells, kind=kind))
        padding = node.inputs[0].zero_point
        formats = node.inputs[1].format, node.output.format
        return Residual(self.windows, dense, made, *formats, padding=padding, kind=recipe.kind)

    def needed(self, given: Sequence[Dependency]) -> np.ndarray:
        """`Dependency.needed` of the output: windows of the image, and the pixel that is added to each."""
        return np.asarray(np.maximum(super().needed(given[:1]), given[-1].over(self.node.output.pixels)))

    def waiting(self, given: Sequence[Dependency]) -> list[int]:
        """Return how many pixels of each computed input must find room before the stage."""
        output, x = self.node.output, self.node.inputs[0]
        windows = dataclasses.replace(given[0], needed=super().needed(given[:1]), line=output.columns)
        first, second = waiting_pixels([windows, given[1]], output.pixels)
        return [-(-first * x.pixels // output.pixels), second]

    def own_memories(self, parallelism: Parallelism, cells: str) -> Iterator[Memory]:
        """Yield the memories of the product and the lanes, and the FIFO for results."""
        yield from super().own_memories(parallelism, cells)
        yield Memory(32, self.node.output.format.bits * self.lanes(parallelism) + 1)

    def parts(self, parallelism: Parallelism) -> Mapping[str, int]:
        """Return the parts of a product, and the adder parts of each lane."""
        lanes = self.lanes(parallelism)
        return {**super().parts(parallelism), "join": 1, "join_lane": lanes, "addend": lanes}

    def arrays(self, stage: Residual) -> Arrays:
        """Return the scales and zero points."""
        return Operator.arrays(self, stage)

    def product(self, stage: Residual) -> BuiltProduct | None:
        """Return None: sums are tested."""
        return None

    def claims(self, stage: Any) -> dict[str, Any]:
        """Return that sums and additions are tested."""
        config = stage.dense.config
        array = {"rows": config.rows, "cols": config.cols, "depth": config.depth}
        return {"verdict": "tested", "formats": self.formats, "array": array}


def _columns(found: Requantization, columns: range) -> Requantization:
    """The constants of some columns."""
    picked = {
        name: tuple(getattr(found, name)[column] for column in columns) for name in ("multiplier", "shift", "offset")
    }
    return found.replace(**picked)
