"""Softmax over the last channels of integers: com.microsoft.QLinearSoftmax, step by step as onnxruntime's kernel.

    e[d]    float32 of exp(peak - d * x_scale), for the greatest integer of the row less an integer: d = 0 ... 255
    total   the sum of e[d] over the row, in float32, rounded after each element, from the first on
    result  rint(e[d] * floor(1 / y_scale) / total) + zero point, saturated; the quotient is exact before it is rounded

The kernel chooses ``peak`` so that a row's sum stays finite; it has no effect but on the last bits of float32.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .node import Node

__all__ = ["MOST_LEVELS", "Softmax"]

MOST_LEVELS = 1 << 16
"""The greatest floor(1 / y_scale) that is taken."""
_RESERVE = 5.0  # of the logarithm of the greatest float32 that a row's sum may reach


@dataclass(frozen=True, kw_only=True, eq=False)
class Softmax(Node):
    """The softmax of the channels of each pixel, which are the last dimension, or the second of an image."""

    def __post_init__(self) -> None:
        (x,) = self.inputs
        self.expect_same_format()
        self.expect_shape(x.shape)
        with np.errstate(all="ignore"):
            levels = np.floor(np.float32(1) / self.output.scale)
        if not levels <= MOST_LEVELS:
            raise ValueError(
                f"the scale of {self.output.name!r} must be at least 1 / {MOST_LEVELS}, not "
                f"{float(self.output.scale)!r}"
            )

    @property
    def kind(self) -> str:
        """With the length of a row."""
        return f"softmax of {self.length}"

    @property
    def length(self) -> int:
        """Elements of a row."""
        return self.inputs[0].channels

    @property
    def levels(self) -> int:
        """The result of a probability of 1, less the zero point: floor(1 / y_scale) of float32."""
        return int(np.floor(np.float32(1) / self.output.scale))

    @cached_property
    def exponentials(self) -> npt.NDArray[np.float32]:
        """The 256 values of e, which fall and may be 0 at the end."""
        scale = float(self.inputs[0].scale)
        most = np.finfo(np.float32).max / np.float32(self.length)
        peak = max(0.0, float(np.float32(math.log(float(most)))) - _RESERVE) / scale  # in steps of the input
        found = [math.exp((peak - d) * scale) for d in range(256)]
        return np.array(found).astype(np.float32)

    def totals(self, below: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """Return the sums of rows [..., length] of integers below their row's greatest, without the last dimension."""
        terms = self.exponentials[below]
        total = terms[..., 0]
        for place in range(1, terms.shape[-1]):
            total = total + terms[..., place]  # float32, rounded each time
        return np.asarray(total)

    def apply(self, *inputs: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """In the input's shape."""
        (x,) = inputs
        rows = self.inputs[0].raster(x).astype(np.int64)
        below = rows.max(axis=-1, keepdims=True) - rows
        # The product is exact in float64, and no quotient that is not a tie rounds to one: that takes 24 bits, not 53.
        numerators = self.exponentials.astype(np.float64)[below] * self.levels
        results = np.rint(numerators / self.totals(below)[..., np.newaxis].astype(np.float64)) + self.output.zero_point
        return self.inputs[0].unraster(self.output.format.saturate(results))
