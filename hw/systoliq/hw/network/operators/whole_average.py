"""Averages of whole images, as products with weights of one."""

from __future__ import annotations

from collections.abc import Mapping

from systoliq.golden import network

from ..average_operator import AverageOperator
from ..parallelism import Parallelism
from ..recipe import Recipe
from ..sliding import Sliding

__all__ = ["WholeAverageOperator"]


class WholeAverageOperator(AverageOperator[network.WholeAverage]):
    """A window that is the image, and a sum for each channel."""

    node_type = network.WholeAverage

    @property
    def window(self) -> network.Window:
        """The image; for tensors without pixels, all elements."""
        shape, pixels = self.node.inputs[0].shape, self.node.inputs[0].pixels
        return network.Window(kernel=shape[2:] if len(shape) == 4 else (pixels, 1))

    def parts(self, parallelism: Parallelism) -> Mapping[str, int]:
        return {"sequence": 1, "whole_window": 1, "mean_requantizer": self.lanes(parallelism)}

    def build(self, recipe: Recipe) -> Sliding:
        x = self.node.inputs[0]
        if len(x.shape) != 4:
            raise ValueError(f"{x.name!r} must have the shape [batch, channels, rows, columns], not {list(x.shape)}")
        return super().build(recipe)
