"""Multiplication of two quantized tensors, element by element: com.microsoft.QLinearMul."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..rescale import combined_scale
from .node import Node
from .steps import Steps

__all__ = ["Multiplication"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Multiplication(Node):
    """The product of two tensors, broadcast: rint(f(f(f((a - za) * (b - zb)) * scale) + zy)), saturated.

    f rounds to float32; the zero point is added before the rounding to an integer, unlike in a layer.
    """

    def __post_init__(self) -> None:
        a, b = self.inputs
        self.expect_same_format()
        self.expect_shape(np.broadcast_shapes(a.shape, b.shape))
        if not np.isfinite(self.scale):
            raise ValueError(f"the product of the scales of {a.name!r} and {b.name!r} must be finite in the output's")
        self.expect_int32(max(map(abs, self.products)) * float(self.scale))

    @property
    def kind(self) -> str:
        """A multiplication."""
        return "multiplication"

    @property
    def scale(self) -> npt.NDArray[np.float32]:
        """From product to output: f(f(a_scale * b_scale) / y_scale)."""
        a, b = self.inputs
        return combined_scale(*(np.asarray(each.scale) for each in (a, b, self.output)))

    @property
    def products(self) -> tuple[int, int]:
        """The least and the greatest of (a - za) * (b - zb) for all integers of both formats."""
        ends = [[end - x.zero_point for end in (x.format.min, x.format.max)] for x in self.inputs]
        corners = [a * b for a in ends[0] for b in ends[1]]
        return min(corners), max(corners)

    @cached_property
    def steps(self) -> Steps:
        """The rescaling of the products, exact for all of them."""
        low, high = self.products
        results = self.rescaled(np.arange(low, high + 1, dtype=np.int32))
        return Steps.of(results, low, float(self.scale), self.output.zero_point, self.output.format)

    def rescaled(self, products: npt.NDArray[np.int32]) -> npt.NDArray[Any]:
        """The outputs for (a - za) * (b - zb); they rise with it."""
        with np.errstate(over="ignore"):
            y = products.astype(np.float32) * self.scale + np.float32(self.output.zero_point)
        return self.output.format.saturate(np.rint(y))

    def apply(self, *inputs: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The products, saturated."""
        a, b = (x.astype(np.int32) - tensor.zero_point for x, tensor in zip(inputs, self.inputs, strict=True))
        return self.rescaled(a * b)
