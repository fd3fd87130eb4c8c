"""Residual sum: a convolution and another tensor, added before anything is rounded."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..layer import MatMulLayer
from ..rescale import requantize_float32
from .convolution import Convolution
from .node import Node
from .window import Window

__all__ = ["MOST_FRACTION_BITS", "ResidualSum"]

MOST_FRACTION_BITS = 16


@dataclass(frozen=True, kw_only=True, eq=False)
class ResidualSum(Node):
    """Conv, and the second input added to it, of the output's shape [batch, M, ...]: requantized once.

    total = (sum of products << fraction_bits) + factors[m] * (addend - zero point) + constants[m]

    `layer` is the convolution's without a bias, as in `Convolution`. A total is in units of a_scale * b_scale[m] /
    2^fraction_bits; `factors` and `constants`, int32 [M], are the scale of the addend and the bias in that unit,
    rounded. The result is `requantize_float32` of the total. Every total must fit int32.
    """

    window: Window
    groups: int = 1
    layer: MatMulLayer
    fraction_bits: int
    factors: npt.NDArray[np.int32]
    constants: npt.NDArray[np.int32]

    def __post_init__(self) -> None:
        if len(self.inputs) != 2:
            raise ValueError(f"node {self.name!r} must have two inputs, not {len(self.inputs)}")
        _ = self.convolution
        addend = self.inputs[1]
        if addend.shape != self.output.shape:
            raise ValueError(f"{addend.name!r} must have the shape {list(self.output.shape)}, not {list(addend.shape)}")
        if self.layer.bias is not None:
            raise ValueError("the layer must have no bias: it is among the constants")
        if not 0 <= self.fraction_bits <= MOST_FRACTION_BITS:
            raise ValueError(f"fraction_bits must be 0 to {MOST_FRACTION_BITS}, not {self.fraction_bits}")
        for name in ("factors", "constants"):
            array = np.array(getattr(self, name))
            if array.dtype != np.int32 or array.shape != (self.layer.n,):
                raise ValueError(
                    f"{name} must be int32 of the shape [{self.layer.n}], not {array.dtype.name} {list(array.shape)}"
                )
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if self.factors.min() < 0:
            raise ValueError(f"factors must be 0 or more, not {int(self.factors.min())}")
        low, high = self.totals
        if low < -(1 << 31) or high >= 1 << 31:
            raise ValueError(f"totals must fit 32 bits, not reach {low} to {high}")

    @cached_property
    def convolution(self) -> Convolution:
        """The convolution alone, without a bias."""
        inputs = (self.inputs[0],)
        return Convolution(
            name=self.name,
            inputs=inputs,
            output=self.output,
            window=self.window,
            groups=self.groups,
            layer=self.layer,
        )

    @property
    def kind(self) -> str:
        """The convolution's, and the sum."""
        return f"{self.convolution.kind}, plus a tensor"

    @property
    def multiply_accumulates(self) -> int:
        """The convolution's."""
        return self.convolution.multiply_accumulates

    @property
    def scale(self) -> npt.NDArray[np.float32]:
        """float32 [M]: one unit of a total, in steps of the output."""
        found: npt.NDArray[np.float32] = self.layer.scale * np.float32(2.0**-self.fraction_bits)
        return found

    @cached_property
    def totals(self) -> tuple[int, int]:
        """The least total that may occur, and the greatest."""
        lows, highs = (ends.astype(object) << self.fraction_bits for ends in self.layer.accumulator_range())
        addend = self.inputs[1]
        steps = addend.format.min - addend.zero_point, addend.format.max - addend.zero_point
        factors, constants = self.factors.astype(object), self.constants.astype(object)
        return int((lows + steps[0] * factors + constants).min()), int((highs + steps[1] * factors + constants).max())

    def apply(self, *inputs: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """[batch, M, rows, columns]."""
        x, addend = inputs
        sums = self.convolution.sums(x).astype(np.int64) << self.fraction_bits
        steps = np.moveaxis(addend.astype(np.int64) - self.inputs[1].zero_point, 1, -1)
        totals = sums + steps * self.factors + self.constants
        y = requantize_float32(totals.astype(np.int32), self.scale, self.output.zero_point, self.output.format)
        return np.ascontiguousarray(np.moveaxis(y, -1, 1))
