"""Linear interpolation: the four pixels around each pixel of the output, added up with their weights in float32."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from systoliq.golden import network
from systoliq.golden.formats import signed_bits
from systoliq.golden.network.real_sums import RealSums

from ..blended import BlendedWindow
from ..memory import Memory
from ..parallelism import Parallelism
from ..real_average import RealAverage
from ..real_sum import ADDITION, RealSum
from ..recipe import Recipe
from ..sliding import Sliding
from ..window_operator import ROW, WindowOperator

__all__ = ["LinearResizeOperator"]

_PIXELS = 4  # of a window


class LinearResizeOperator(WindowOperator[network.LinearResize]):
    """Lines of the image, and lanes that add up four pixels each, one every `ADDITION` cycles."""

    node_type = network.LinearResize

    @cached_property
    def sums(self) -> RealSums | None:
        """The sums in float32; None if there is no hardware for them."""
        try:
            return RealSums.of_linear(self.node)
        except ValueError:
            return None

    @cached_property
    def windows(self) -> BlendedWindow:
        """The four pixels of the input for each pixel of the output."""
        return BlendedWindow.of(self.node)

    @cached_property
    def requantizer_factors(self) -> tuple[int, int] | None:
        """Bits of both factors of the estimate."""
        if self.sums is None:
            return None
        return max(self.sums.bits - self.sums.drop, 2), max(self.sums.multiplier.bit_length(), 1)

    def image_cycles(self, parallelism: Parallelism) -> int:
        """Cycles from one image to the next if neither side of the stage waits."""
        windows = self.windows
        beats = windows.channels // parallelism.cols
        made = ADDITION * _PIXELS * math.prod(windows.out) * beats
        return max(made, windows.pixels * beats, ROW * windows.out[0])

    def own_memories(self, parallelism: Parallelism, cells: str) -> Iterator[Memory]:
        """Yield lines of the image, and the lanes' tables, thresholds and results that wait."""
        yield from super().own_memories(parallelism, cells)
        lanes = parallelism.cols
        if self.sums is not None:
            entries = [entry for table in self.sums.tables for entry in table]
            yield Memory(len(entries), signed_bits(*entries), constant=True, count=lanes)
            yield Memory(255, self.sums.bits, constant=True, count=lanes)
        yield Memory(32, 8 * lanes + 1)

    def parts(self, parallelism: Parallelism) -> Mapping[str, int]:
        """Return the window and a float32 sum for each lane."""
        return {"sequence": 1, **self.window_parts(parallelism), "real_sum": parallelism.cols}

    def build(self, recipe: Recipe) -> Sliding:
        """Return the lines of the image and the lanes; raise ValueError for too many weights."""
        node, windows = self.node, self.windows
        sums, form, kind = RealSums.of_linear(node), node.inputs[0].format, "blend"
        lanes = [
            RealSum(sums, form, cells=recipe.cells, lane_cells=recipe.lane_cells, kind=f"{kind}_lane")
            for _ in range(recipe.lanes(windows.channels))
        ]
        core = RealAverage(
            lanes,
            form,
            beats=_PIXELS,
            cells=recipe.cells,
            kind=kind,
            weights=node.weights.reshape(*windows.out, _PIXELS),
            groups=windows.channels // len(lanes),
        )
        return Sliding(windows, core, padding=node.inputs[0].zero_point, cells=recipe.cells, kind=recipe.kind)

    def claims(self, stage: Any) -> dict[str, Any]:
        """Return that additions in float32 are tested."""
        return {"verdict": "tested", "formats": self.formats}
