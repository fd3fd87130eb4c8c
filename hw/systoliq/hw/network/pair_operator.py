"""Pair operators: each element of the output is made of one element of either input."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from amaranth.lib import wiring

from systoliq.golden import network
from systoliq.golden.network.sum_tables import SumTables
from systoliq.golden.network.tensor import BYTE

from .addition import SumOfTables
from .extremum import ExtremumOfTables
from .memory import Memory
from .multiplication import SteppedProduct
from .operator import N_co, Operator, digest
from .pairwise import Pairwise
from .parallelism import Parallelism
from .recipe import Recipe
from .repeated import Repeated

__all__ = ["PairOperator"]


Lane = SumOfTables | ExtremumOfTables | SteppedProduct


class PairOperator(Operator[N_co]):
    """An operator with two inputs of one shape; either may be constant, or one pixel for all of the output's."""

    @property
    def single_pixel(self) -> int | None:
        """Index of the computed input that is one pixel for all of the output's; None if both have the same shape.

        Raises ValueError for all other shapes.
        """
        output, (a, b) = self.node.output, self.node.inputs
        if a.value is not None or b.value is not None or a.shape == b.shape:
            return None
        one = tuple(size if axis in (0, output.channel_axis) else 1 for axis, size in enumerate(output.shape))
        for index, (single, whole) in enumerate(((a, b), (b, a))):
            if single.shape == one and whole.shape == output.shape:
                return index
        raise ValueError(
            f"both operands must be of one shape, or one of them a pixel {list(one)}, not {list(a.shape)} and "
            f"{list(b.shape)}"
        )

    def build_pairwise(self, lane: Callable[[str], Lane], recipe: Recipe) -> wiring.Component:
        """Return the recipe's lanes, each made by ``lane`` from its kind; a single pixel is repeated before them."""
        index, node = self.single_pixel, self.node
        kind = recipe.kind if index is None else "join"
        lanes = [lane(f"{kind}_lane") for _ in range(recipe.lanes(self.common_channels))]
        formats = node.inputs[0].format, node.output.format
        ending = int(node.inputs[0].value is not None)
        core = Pairwise(lanes, *formats, ending=ending, cells=recipe.cells, kind=kind)
        if index is None:
            return core
        beats = node.output.channels // len(lanes)
        return Repeated(core, index=index, beats=beats, times=node.output.pixels, cells=recipe.cells, kind=recipe.kind)

    def all_pairs(self) -> npt.NDArray[Any]:
        """Return the results for all pairs of codes, [256, 256]."""
        node = self.node
        square = {"shape": (1, 256, 256), "value": None, "channels_last": False}
        tensors = [tensor.replace(**square) for tensor in (*node.inputs, node.output)]
        codes = tensors[0].codes
        a, b = np.broadcast_arrays(codes[None, :, None], codes[None, None, :])
        pairs = dataclasses.replace(node, inputs=tuple(tensors[:2]), output=tensors[2])
        found: npt.NDArray[Any] = pairs.apply(a, b)[0]
        return found

    def sum_tables(self, results: str) -> SumTables:
        """Return two tables whose sums give all ``results``, which an error names. Raises ValueError without any."""
        tables = SumTables.of(self.all_pairs(), self.node.output.format)
        if tables is None:
            raise ValueError(f"no two tables give its {results} exactly")
        return tables

    @property
    def proof(self) -> str:
        return "65536 pairs"

    @abstractmethod
    def table_memory(self, lanes: int) -> Memory:
        """Return the tables of all lanes."""

    def own_memories(self, parallelism: Parallelism, cells: str) -> Iterator[Memory]:
        """Yield tables, a FIFO for results, and twice a pixel that is repeated: one comes while the other leaves."""
        lanes = parallelism.cols
        yield self.table_memory(lanes)
        yield from super().own_memories(parallelism, cells)
        if self.single_pixel is not None:
            yield Memory(2 * self.node.output.channels // lanes, BYTE * lanes + 1)

    def pair_claims(self, stage: Pairwise | Repeated, results: npt.NDArray[Any]) -> dict[str, Any]:
        """Return the claims of a stage with ``results`` for all pairs; the second input varies fastest."""
        core = stage.core if isinstance(stage, Repeated) else stage
        tensors: dict[str, network.Tensor] = {"a": self.node.inputs[0], "b": self.node.inputs[1], "y": self.node.output}
        return {
            "verdict": "exact",
            "formats": self.formats,
            "scales": {letter: float(tensor.scale).hex() for letter, tensor in tensors.items()},
            "zero_points": {letter: tensor.zero_point for letter, tensor in tensors.items()},
            "lanes": len(core.lanes),
            "results_sha256": digest(results),
        }
