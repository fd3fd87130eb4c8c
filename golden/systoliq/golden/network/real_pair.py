"""Functions of two real numbers in float32 between DequantizeLinear and QuantizeLinear: Sub, Min, Max and some Add.

onnxruntime has no integer operators for them, and for Add none of tensors of different types, nor for one before a
Relu that has an effect. With f rounding to float32, a difference is
rint(f(f(f(a_scale (a - za)) - f(b_scale (b - zb))) / y_scale)) + zy, saturated; a sum has + for -.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .node import Node

__all__ = ["RealPair"]

_FUNCTIONS = {"sum": np.add, "difference": np.subtract, "minimum": np.minimum, "maximum": np.maximum}


@dataclass(frozen=True, kw_only=True, eq=False)
class RealPair(Node):
    """`function` of two tensors, broadcast: "sum", "difference", "minimum" or "maximum"."""

    function: str

    def __post_init__(self) -> None:
        a, b = self.inputs
        if self.function not in _FUNCTIONS:
            raise ValueError(f"function must be one of {', '.join(_FUNCTIONS)}, not {self.function!r}")
        self.expect_bytes()
        if a.format != b.format:
            raise ValueError(f"both operands must be of one format, not of {a.format} and {b.format}")
        self.expect_shape(np.broadcast_shapes(a.shape, b.shape))
        for tensor in self.inputs:
            if not float(tensor.scale) < 2.0**100:
                raise ValueError(f"the scale of {tensor.name!r} must be below 2^100, not {float(tensor.scale):.6g}")

    @property
    def kind(self) -> str:
        """The function."""
        return self.function

    def apply(self, *inputs: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The results, saturated."""
        a, b = (tensor.dequantize(x) for tensor, x in zip(self.inputs, inputs, strict=True))
        with np.errstate(over="ignore"):
            return self.output.quantize(_FUNCTIONS[self.function](a, b))
