"""Averages of whole images, as products with weights of one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from systoliq.golden import network
from systoliq.golden.formats import signed_bits
from systoliq.golden.layer import MatMulLayer

from ..layer_operator import LaneOperator
from ..parallelism import Parallelism
from ..recipe import Recipe
from ..sliding import Sliding

__all__ = ["WholeAverageOperator"]


class WholeAverageOperator(LaneOperator[network.WholeAverage]):
    """A window that is the image, and a sum for each channel."""

    node_type = network.WholeAverage

    @property
    def window(self) -> network.Window:
        """The image, or all pixels of what is no image."""
        shape, pixels = self.node.inputs[0].shape, self.node.inputs[0].pixels
        return network.Window(kernel=shape[2:] if len(shape) == 4 else (pixels, 1))

    @property
    def layer(self) -> MatMulLayer | None:
        """None: the weights are ones, and all sums have one scale."""
        return None

    @cached_property
    def requantizer_factors(self) -> tuple[int, int]:
        """Bits of the widest sums of bytes less their zero point, and of the mantissa."""
        sums = signed_bits(*(self.node.pixels * bound for bound in (-256, 255)))
        return sums, self.node.requantization.multiplier_bits

    def parts(self, parallelism: Parallelism) -> Mapping[str, int]:
        return {"sequence": 1, "whole_window": 1, "mean_requantizer": parallelism.cols}

    def build(self, recipe: Recipe) -> Sliding:
        x, y = self.node.inputs[0], self.node.output
        if len(x.shape) != 4:
            raise ValueError(f"{x.name!r} must have the shape [batch, channels, rows, columns], not {list(x.shape)}")
        layer = MatMulLayer(
            b=np.ones((self.node.pixels, self.windows.channels), np.int8),
            a_scale=x.scale,
            b_scale=np.float32(1),
            y_scale=np.float32(y.scale * np.float32(self.node.pixels)),
            a_zero_point=np.array(x.zero_point, x.format.dtype),
            b_zero_point=np.array(0, np.int8),
            y_zero_point=np.array(y.zero_point, y.format.dtype),
        )
        return self.build_sliding(layer, recipe)
