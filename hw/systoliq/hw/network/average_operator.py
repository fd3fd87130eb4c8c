"""Average operators: sums of pixels, as products with weights of one, requantized by the number of pixels."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from systoliq.golden.formats import signed_bits
from systoliq.golden.layer import MatMulLayer

from .layer_operator import LaneOperator
from .operator import N_co
from .recipe import Recipe
from .sliding import Sliding

__all__ = ["AverageOperator"]


class AverageOperator(LaneOperator[N_co]):
    """A sum for each channel of the pixels of a window; padding adds nothing. Nodes have ``pixels`` and
    ``requantization``.
    """

    @property
    def layer(self) -> MatMulLayer | None:
        """None: all weights are ones, and all sums have one scale."""
        return None

    @cached_property
    def requantizer_factors(self) -> tuple[int, int]:
        """Bits of the widest sums of bytes less their zero point, and of the mantissa."""
        node = self.node
        sums = signed_bits(*(node.pixels * bound for bound in (-256, 255)))  # type: ignore[attr-defined]
        return sums, node.requantization.multiplier_bits  # type: ignore[attr-defined]

    def build(self, recipe: Recipe) -> Sliding:
        x, y, pixels = self.node.inputs[0], self.node.output, self.node.pixels  # type: ignore[attr-defined]
        layer = MatMulLayer(
            b=np.ones((int(np.prod(self.window.kernel)), self.windows.channels), np.int8),
            a_scale=x.scale,
            b_scale=np.float32(1),
            y_scale=np.float32(y.scale * np.float32(pixels)),
            a_zero_point=np.array(x.zero_point, x.format.dtype),
            b_zero_point=np.array(0, np.int8),
            y_zero_point=np.array(y.zero_point, y.format.dtype),
        )
        return self.build_sliding(layer, recipe)
