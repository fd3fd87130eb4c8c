"""Matrix products of two computed tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from systoliq.golden import exact, network
from systoliq.golden.formats import signed_bits

from ..dependency import Dependency
from ..memory import Memory
from ..operator import Operator
from ..parallelism import Parallelism
from ..product import StreamedProduct, product_cycles
from ..recipe import Recipe
from ..row_memory import RowMemory

__all__ = ["MatrixProductOperator"]


class MatrixProductOperator(Operator[network.MatrixProduct]):
    """One multiplication a cycle, of a row with all columns of a matrix that lies in a memory of two halves."""

    node_type = network.MatrixProduct

    @property
    def common_channels(self) -> int:
        """One: elements come one by one."""
        return 1

    @cached_property
    def requantizer_factors(self) -> tuple[int, int]:
        return signed_bits(*self.node.sums_range), self.node.requantization.multiplier_bits

    def multipliers(self, parallelism: Parallelism) -> int:
        return 1

    def image_cycles(self, parallelism: Parallelism) -> int:
        """Cycles from one image to the next if neither side of the stage waits."""
        return self.node.output.pixels * product_cycles(self.node)

    def build(self, recipe: Recipe) -> StreamedProduct:
        recipe.lanes(self.common_channels)
        return StreamedProduct(self.node, cells=recipe.cells, lane_cells=recipe.lane_cells, kind=recipe.kind)

    def waiting(self, given: Sequence[Dependency]) -> list[int]:
        return super().waiting(self._awaited(given))

    def _awaited(self, given: Sequence[Dependency]) -> Sequence[Dependency]:
        """Return what each row of the output needs: a row of A, and all of the matrix of its block."""
        (a, b), node = given, self.node
        rows, height = node.output.pixels, node.output.pixels // node.blocks
        ends = (np.arange(rows) // height + 1) * node.depth - 1
        matrices = b.over(node.inputs[1].pixels)[ends]
        return Dependency(a.over(rows), a.line, a.lag), Dependency(np.asarray(matrices), height, b.lag)

    def needed(self, given: Sequence[Dependency]) -> np.ndarray:
        return np.asarray(np.max([each.needed for each in self._awaited(given)], axis=0))

    def own_memories(self, parallelism: Parallelism, cells: str) -> Iterator[Memory]:
        """Yield two rows, two matrices, and rows of results."""
        a, b = self.node.inputs
        yield Memory(RowMemory.depth_of(self.node.depth), a.format.bits)
        yield Memory(RowMemory.depth_of(self.node.depth * b.channels), b.format.bits)
        yield Memory(StreamedProduct.results_of(self.node), self.node.output.format.bits + 1)

    def parts(self, parallelism: Parallelism) -> Mapping[str, int]:
        return {"sequence": 1, "repeater": 2, "mean_requantizer": 1}

    @property
    def proof(self) -> str:
        return "65536 products, steps of the requantizer"

    def claims(self, stage: StreamedProduct) -> dict[str, Any]:
        """Return the sizes, the sums, and the requantizer's constants and steps."""
        node = self.node
        tensors = dict(zip("aby", (*node.inputs, node.output), strict=True))
        low, high = (np.array([end]) for end in node.sums_range)
        proof = exact.certificate(node.requantization, node.scale, low, high)
        return {
            "verdict": proof["verdict"],
            "formats": {letter: tensor.format.name for letter, tensor in tensors.items()},
            "shape": {
                "blocks": node.blocks,
                "rows": node.output.shape[1] // node.blocks,
                "k": node.depth,
                "n": node.output.channels,
            },
            "zero_points": {letter: tensor.zero_point for letter, tensor in tensors.items()},
            "sum_bits": stage.sum_bits,
            "rounding": proof["rounding"],
            "column": proof["columns"][0],
        }
