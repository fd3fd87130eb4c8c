"""Recipe: the parameters of a stage, in addition to its node."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.requantization import Requantization

from .parallelism import Parallelism

__all__ = ["Order", "Recipe", "Requantize"]

Order = npt.NDArray[np.int64]
Requantize = Callable[[MatMulLayer], Requantization]
"""Chooses the integer constants of a layer."""


class Recipe(NamedTuple):
    """``cells`` of products, ``lane_cells`` of requantizers; ``kind`` begins the modules' names. ``order``: the order
    of the elements, if it differs from `Tensor.raster`'s.
    """

    parallelism: Parallelism
    cells: str
    lane_cells: str
    kind: str
    requantize: Requantize
    order: Order | None

    def lanes(self, channels: int) -> int:
        """The lanes of an operator without depth, which must divide ``channels``."""
        if self.parallelism.depth != 1:
            raise ValueError(f"depth must be 1, not {self.parallelism.depth}")
        if channels % self.parallelism.cols:
            raise ValueError(f"lanes must divide the {channels} channels, not {self.parallelism.cols}")
        return self.parallelism.cols
