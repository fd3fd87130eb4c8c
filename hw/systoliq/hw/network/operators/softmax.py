"""Softmax: each element's share of the exponentials of its row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from systoliq.golden import network

from ..memory import Memory
from ..operator import Arrays, Operator, digest_of_words
from ..parallelism import Parallelism
from ..recipe import Recipe
from ..row_memory import RowMemory
from ..softmax import SoftmaxRows, SoftmaxTables

__all__ = ["SoftmaxOperator"]


class SoftmaxOperator(Operator[network.Softmax]):
    """A table of exponentials, their sum in float32, and one division at a time."""

    node_type = network.Softmax
    tested: ClassVar[str] = "additions and divisions between the cases that are evaluated, flow"

    @cached_property
    def tables(self) -> SoftmaxTables:
        """The words of the table."""
        return SoftmaxTables.of(self.node)

    @property
    def common_channels(self) -> int:
        """One: elements come one by one."""
        return 1

    def image_cycles(self, parallelism: Parallelism) -> int:
        """Cycles from one image to the next if neither side of the stage waits."""
        return self.node.output.pixels * self.tables.row_cycles(self.node.length)

    def build(self, recipe: Recipe) -> SoftmaxRows:
        recipe.lanes(self.common_channels)
        output = self.node.output
        return SoftmaxRows(
            self.tables,
            output.format,
            length=self.node.length,
            zero_point=output.zero_point,
            cells=recipe.cells,
            kind=recipe.kind,
        )

    def own_memories(self, parallelism: Parallelism, cells: str) -> Iterator[Memory]:
        """Yield two rows, the table, and two rows of results."""
        bits, length = self.node.output.format.bits, self.node.length
        yield Memory(RowMemory.depth_of(length), bits)
        yield Memory(2 * 256, self.tables.word_bits, constant=True)
        yield Memory(RowMemory.results_of(length), bits + 1)

    def parts(self, parallelism: Parallelism) -> Mapping[str, int]:
        """Return the unit that adds and divides."""
        return {"softmax": 1}

    def arrays(self, stage: Any) -> Arrays:
        """Return the scales and zero points, and the exponentials by how far an element is below the greatest."""
        return {**super().arrays(stage), "exponentials": self.node.exponentials}

    @property
    def proof(self) -> str:
        return "512 words of the table, all quotients, widths"

    def claims(self, stage: SoftmaxRows) -> dict[str, Any]:
        """Return the sizes, and digests of the exponentials and of the memory."""
        node = self.node
        return {
            "verdict": "exact in part",
            "formats": self.formats,
            "length": node.length,
            "levels": node.levels,
            "total_bits": self.tables.total_bits,
            "fraction": self.tables.fraction,
            "exponentials_sha256": digest_of_words(node.exponentials.view(np.uint32).tolist()),
            "words_sha256": digest_of_words(self.tables.words),
        }
