"""Averages of windows, which have no hardware."""

from __future__ import annotations

from systoliq.golden import network

from ..recipe import Recipe
from ..sliding import Sliding
from ..window_operator import WindowOperator

__all__ = ["WindowedAverageOperator"]


class WindowedAverageOperator(WindowOperator[network.WindowedAverage]):
    """A refusal with its reason."""

    node_type = network.WindowedAverage

    def build(self, recipe: Recipe) -> Sliding:
        image, kernel = list(self.node.inputs[0].shape[2:]), list(self.node.window.kernel)
        raise ValueError(
            f"there is no hardware for an average of windows, whose float32 sums depend on the order of pixels: "
            f"kernel_shape must be the whole image, {image}, without pads, not {kernel}"
        )
