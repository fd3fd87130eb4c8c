"""Matrix products of two computed tensors."""

from __future__ import annotations

import dataclasses
import math
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
    """Multiplications of a row with all columns of a matrix that lies in a memory of two halves, ``depth`` a cycle."""

    node_type = network.MatrixProduct

    @property
    def common_channels(self) -> int:
        """One: elements come one by one."""
        return 1

    @cached_property
    def requantizer_factors(self) -> tuple[int, int]:
        return signed_bits(*self.node.sums_range), self.node.requantization.multiplier_bits

    def choices(self) -> Iterator[Parallelism]:
        """Yield each number of products a cycle that divides the products of a sum, while it makes the stage faster."""
        fastest = math.inf
        for depth in range(1, self.node.depth + 1):
            choice = Parallelism(depth=depth)
            if self.node.depth % depth == 0 and (cycles := self.image_cycles(choice)) < fastest:
                fastest = cycles
                yield choice

    def multipliers(self, parallelism: Parallelism) -> int:
        return parallelism.depth

    def lane_pace(self, parallelism: Parallelism) -> int:
        return self.node.depth // parallelism.depth

    def image_cycles(self, parallelism: Parallelism) -> int:
        """Cycles from one image to the next if neither side of the stage waits."""
        a, b = self.node.inputs
        elements = max(a.pixels * a.channels, b.pixels * b.channels)  # which come one by one
        return max(self.node.output.pixels * product_cycles(self.node, parallelism.depth), elements)

    def build(self, recipe: Recipe) -> StreamedProduct:
        how = recipe.parallelism
        if dataclasses.replace(how, cells="", lane_cells="") not in self.choices():
            raise ValueError(f"products a cycle must divide the {self.node.depth} of a sum, in 1 column, not {how}")
        return StreamedProduct(
            self.node, cells=recipe.cells, lane_cells=recipe.lane_cells, kind=recipe.kind, depth=how.depth
        )

    def waiting(self, given: Sequence[Dependency]) -> list[int]:
        """Rows of A wait until the matrix of their block is complete, and matrices until they are in use: the stage has
        two rows and two matrices, so that each stream needs room for a row more than waits, and one matrix less.
        """
        a, b = self._awaited(given)
        return super().waiting([dataclasses.replace(a, line=1), dataclasses.replace(b, line=1 - b.line)])

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
        (a, b), banks = self.node.inputs, parallelism.depth
        words = self.node.depth // banks
        yield Memory(RowMemory.depth_of(words), a.format.bits, count=banks)
        yield Memory(RowMemory.depth_of(words * b.channels), b.format.bits, count=banks)
        yield Memory(StreamedProduct.results_of(self.node, banks), self.node.output.format.bits + 1)

    def parts(self, parallelism: Parallelism) -> Mapping[str, int]:
        return {"sequence": 1, "repeater": 2, "product_requantizer": 1}

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
