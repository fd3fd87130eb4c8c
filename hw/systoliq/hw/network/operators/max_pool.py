"""Maxima of windows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from systoliq.golden import network

from ...operand_shape import operand_shape
from ..maximum import Maximum
from ..parallelism import Parallelism
from ..recipe import Recipe
from ..sliding import Sliding
from ..window_operator import WindowOperator

__all__ = ["MaxPoolOperator"]


class MaxPoolOperator(WindowOperator[network.MaxPool]):
    """The greatest of the pixels of a window, one after the other, channel by channel."""

    node_type = network.MaxPool

    def parts(self, parallelism: Parallelism) -> Mapping[str, int]:
        padded = self.window_parts(parallelism)["padded_bit"]
        return {**super().parts(parallelism), "pool_window": 1, "padded_bit": padded}

    def build(self, recipe: Recipe) -> Sliding:
        form = self.node.inputs[0].format
        beats = math.prod(self.node.window.kernel)
        core = Maximum(operand_shape(form), lanes=recipe.lanes(self.windows.channels), beats=beats)
        return Sliding(self.windows, core, padding=form.min, cells=recipe.cells, kind=recipe.kind)

    @property
    def proof(self) -> str:
        return "65536 pairs"

    def claims(self, stage: Any) -> dict[str, Any]:
        """Return that lanes compare all pairs."""
        return {"verdict": "exact", "formats": self.formats, "lanes": stage.core.lanes}
