"""Layer normalization: each element less the mean of its row, by the deviation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar

from systoliq.golden import network

from ..memory import Memory
from ..normalization import NormalizationWidths, NormalizedRows
from ..operator import Arrays, Operator, digest_of_words
from ..parallelism import Parallelism
from ..recipe import Recipe
from ..row_memory import RowMemory

__all__ = ["NormalizationOperator"]


class NormalizationOperator(Operator[network.LayerNormalization]):
    """Sums of a row, the inverse root of its variance, and two products for each element, all bit by bit."""

    node_type = network.LayerNormalization
    tested: ClassVar[str] = "sums, root, inverse and products between the cases that are evaluated, flow"

    @cached_property
    def widths(self) -> NormalizationWidths:
        """Bits of all that the stage computes."""
        return NormalizationWidths(self.node)

    @property
    def common_channels(self) -> int:
        """One: elements come one by one."""
        return 1

    def image_cycles(self, parallelism: Parallelism) -> int:
        """Cycles from one image to the next if neither side of the stage waits."""
        return self.node.output.pixels * self.widths.row_cycles

    def build(self, recipe: Recipe) -> NormalizedRows:
        recipe.lanes(self.common_channels)
        return NormalizedRows(self.node, cells=recipe.cells, kind=recipe.kind)

    def own_memories(self, parallelism: Parallelism, cells: str) -> Iterator[Memory]:
        """Yield two rows, the squares, gains and shifts, and two rows of results."""
        length, widths = self.node.length, self.widths
        yield Memory(RowMemory.depth_of(length), self.node.inputs[0].format.bits)
        yield Memory(256, widths.squares, constant=True)
        yield Memory(length, widths.gain + 1 + widths.shift, constant=True)
        yield Memory(RowMemory.results_of(length), self.node.output.format.bits + 1)

    def parts(self, parallelism: Parallelism) -> Mapping[str, int]:
        """Return the unit that searches and multiplies."""
        return {"normalization": 1}

    def arrays(self, stage: Any) -> Arrays:
        """Return the scales and zero points, and the gain and shift of each channel."""
        return {**super().arrays(stage), "gain": self.node.gain, "shift": self.node.shift}

    @property
    def proof(self) -> str:
        return f"256 squares, {self.node.length} gains and shifts, constants, widths, steps of the rounding"

    def claims(self, stage: NormalizedRows) -> dict[str, Any]:
        """Return the constants, and digests of the gains and shifts."""
        steps = self.node.steps
        return {
            "verdict": "exact in part",
            "formats": self.formats,
            "length": self.node.length,
            "constants": {
                "half": steps.half,
                "offset": steps.offset,
                "dividend": steps.dividend,
                "drop": steps.drop,
                "gain_bits": steps.gain_bits,
            },
            "gains_sha256": digest_of_words(steps.gains),
            "shifts_sha256": digest_of_words(steps.shifts),
        }
