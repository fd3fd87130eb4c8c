"""Matrix product of two computed tensors: com.microsoft.QLinearMatMul without constants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..requantization import Requantization
from ..rescale import combined_scale, requantize_float32
from .node import Node

__all__ = ["MatrixProduct"]

_INT32 = 2**31


@dataclass(frozen=True, kw_only=True, eq=False)
class MatrixProduct(Node):
    """Products of `blocks` matrices [M, K] and [K, N], one after the other: [batch, blocks M, N] of two tensors
    [batch, blocks M, K] and [batch, blocks K, N].

    The exact sums of (a - za) * (b - zb), requantized by f(f(a_scale * b_scale) / y_scale) as in a layer.
    """

    blocks: int = 1

    def __post_init__(self) -> None:
        a, b = self.inputs
        self.expect_bytes()
        for tensor in (a, b):
            if len(tensor.shape) != 3 or tensor.shape[1] % self.blocks:
                raise ValueError(
                    f"{tensor.name!r} must have the shape [batch, rows, columns], with rows for {self.blocks} blocks, "
                    f"not {list(tensor.shape)}"
                )
        if b.shape[1] != self.blocks * a.shape[2]:
            raise ValueError(
                f"{b.name!r} must have {a.shape[2]} rows in each of {self.blocks} blocks, not {b.shape[1]}"
            )
        self.expect_shape((*a.shape[:2], b.shape[2]))
        low, high = self.sums_range
        if not -_INT32 <= low <= high < _INT32:
            raise ValueError(f"the sums of {self.name!r} must fit 32 bits, not be {low} to {high}")
        _ = self.requantization  # a ValueError where hardware has no constants for its scales

    @property
    def depth(self) -> int:
        """K: products in a sum."""
        return self.inputs[0].shape[2]

    @property
    def kind(self) -> str:
        """With the sizes of a block."""
        rows, columns = self.inputs[0].shape[1] // self.blocks, self.output.shape[2]
        return f"{self.blocks} products {rows} x {self.depth} x {columns}"

    @property
    def multiply_accumulates(self) -> int:
        """K for every output."""
        return int(np.prod(self.output.shape)) * self.depth

    @property
    def sums_range(self) -> tuple[int, int]:
        """The least and the greatest sum."""
        ends = [[end - x.zero_point for end in (x.format.min, x.format.max)] for x in self.inputs]
        corners = [self.depth * a * b for a in ends[0] for b in ends[1]]
        return min(corners), max(corners)

    @property
    def scale(self) -> npt.NDArray[np.float32]:
        """From sum to output."""
        a, b = self.inputs
        return combined_scale(*(np.asarray(each.scale) for each in (a, b, self.output)))

    @property
    def requantization(self) -> Requantization:
        """The same rescaling in integers."""
        return Requantization.from_scales(self.scale, self.output.zero_point, self.output.format)

    def apply(self, *inputs: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """[batch, blocks M, N]."""
        a, b = (x.astype(np.int64) - tensor.zero_point for x, tensor in zip(inputs, self.inputs, strict=True))
        sums = a.reshape(len(a), self.blocks, -1, a.shape[2]) @ b.reshape(len(b), self.blocks, -1, b.shape[2])
        sums = sums.reshape(len(a), -1, b.shape[2])
        return requantize_float32(sums, self.scale, self.output.zero_point, self.output.format)
