"""Averages of windows, as products with weights of one where float32's order of additions cannot matter."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from systoliq.golden import network

from ..average_operator import AverageOperator
from ..operator import Arrays
from ..parallelism import Parallelism
from ..recipe import Recipe
from ..sliding import Sliding

__all__ = ["WindowedAverageOperator"]


class WindowedAverageOperator(AverageOperator[network.WindowedAverage]):
    """A sum for each channel of a window. Refuses windows whose float32 result may be another than the sum's."""

    node_type = network.WindowedAverage

    def parts(self, parallelism: Parallelism) -> Mapping[str, int]:
        return {"sequence": 1, "window": 1, "mean_requantizer": parallelism.cols}

    def build(self, recipe: Recipe) -> Sliding:
        node = self.node
        if (total := node.uncertain_sum) is not None:
            x, y, pixels = node.inputs[0], node.output, node.pixels
            raise ValueError(
                f"there is no hardware for an average of windows whose result depends on the order of pixels: "
                f"onnxruntime's float32 sum may round the average of {pixels} integers whose sum is {total} to either "
                f"side at the scales {float(x.scale):.9g} before and {float(y.scale):.9g} after it; an odd number of "
                f"pixels with equal scales, most other scales, or a depthwise Conv of weights 1 / {pixels} can be built"
            )
        return super().build(recipe)

    def arrays(self, stage: Sliding) -> Arrays:
        return {**super().arrays(stage), "pixels": np.array(self.node.pixels)}
