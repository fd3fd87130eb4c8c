"""Addition of two quantized tensors: com.microsoft.QLinearAdd.

With ra = f(a_scale / y_scale), rb = f(b_scale / y_scale) and c = f(zy - fma(ra, za, f(rb * zb))), where f rounds to
float32, y = rint(fma(a, ra, fma(b, rb, c))), saturated. onnxruntime computes this on a processor with fused
multiply-adds; a processor without them rounds twice where an fma rounds once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .fma import fma32
from .node import Node

__all__ = ["Addition"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Addition(Node):
    """The sum of two tensors, broadcast. If `exchanged`, the second is a in the formula."""

    exchanged: bool = False

    def __post_init__(self) -> None:
        a, b = self.inputs
        self.expect_same_format()
        self.expect_shape(np.broadcast_shapes(a.shape, b.shape))
        if not all(np.isfinite(each) for each in (*self.ratios, self.offset)):
            raise ValueError(f"the scales of {a.name!r} and {b.name!r} must be finite in units of the output's")
        most = sum(max(map(abs, (x.format.min, x.format.max))) * float(ratio) for x, ratio in self._operands())
        self.expect_int32(most + abs(float(self.offset)))

    @property
    def kind(self) -> str:
        """An addition."""
        return "addition"

    @property
    def ratios(self) -> tuple[np.float32, np.float32]:
        """The size of a step of each input in steps of the output, f32, in the order of the inputs."""
        a, b = self.inputs
        with np.errstate(all="ignore"):
            return a.scale / self.output.scale, b.scale / self.output.scale

    @property
    def offset(self) -> npt.NDArray[np.float32]:
        """The constant c of the formula."""
        (a, ra), (b, rb) = self._operands()
        with np.errstate(all="ignore"):
            shifted = fma32(ra, a.zero_point, rb * np.float32(b.zero_point))
            return np.asarray(np.float32(self.output.zero_point) - shifted)

    def _operands(self) -> list[tuple[Any, np.float32]]:
        pairs = list(zip(self.inputs, self.ratios, strict=True))
        return pairs[::-1] if self.exchanged else pairs

    def apply(self, *inputs: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The sums, saturated."""
        a, b = (x.astype(np.float32) for x in (inputs[::-1] if self.exchanged else inputs))
        (_, ra), (_, rb) = self._operands()
        return self.output.format.saturate(np.rint(fma32(a, ra, fma32(b, rb, self.offset))))
