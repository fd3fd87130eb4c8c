"""Linear Resize: each pixel of the output is a weighted sum of four pixels of the input, in float32."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .node import Node

__all__ = ["Blend", "LinearResize"]


@dataclass(frozen=True, kw_only=True)
class Blend:
    """Rows or columns, each made of two: `first` with the weight `of_first`, and `second`, the same or the next one.

    Weights are float32 numbers from 0 to 1. Neither `first` nor `second` ever falls from one to the next.
    """

    first: tuple[int, ...]
    second: tuple[int, ...]
    of_first: tuple[float, ...]
    of_second: tuple[float, ...]

    def __post_init__(self) -> None:
        lengths = {len(self.first), len(self.second), len(self.of_first), len(self.of_second)}
        if len(lengths) > 1 or not self.first:
            raise ValueError("first, second, of_first and of_second must have as many numbers each, at least one")
        if min(self.first) < 0 or any(b - a not in (0, 1) for a, b in zip(self.first, self.second, strict=True)):
            raise ValueError("first must not be negative, and second be the same or the next one")
        if any(b < a for each in (self.first, self.second) for a, b in itertools.pairwise(each)):
            raise ValueError("first and second must not fall")
        if any(not 0 <= each <= 1 or np.float32(each) != each for each in (*self.of_first, *self.of_second)):
            raise ValueError("weights must be float32 numbers from 0 to 1")

    def __len__(self) -> int:
        return len(self.first)

    @property
    def weights(self) -> npt.NDArray[np.float32]:
        """[len, 2]: of the first and of the second."""
        found: npt.NDArray[np.float32] = np.array([self.of_first, self.of_second], np.float32).T
        return found


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearResize(Node):
    """An image [batch, C, H, W] as [batch, C, len(rows), len(columns)], interpolated in float32: Resize.

    rint(f(sum / y_scale)) + zy, saturated, where sum adds f(f(wr wc) f(x_scale (x - zx))) for the four pixels in raster
    order, rounded after each.
    """

    rows: Blend
    columns: Blend

    def __post_init__(self) -> None:
        (x,) = self.inputs
        if len(x.shape) != 4:
            raise ValueError(f"{x.name!r} must have the shape [batch, channels, rows, columns], not {list(x.shape)}")
        for axis, each in ((2, self.rows), (3, self.columns)):
            if each.second[-1] >= x.shape[axis]:
                raise ValueError(f"rows and columns must be there, not {each.second[-1]} of {x.shape[axis]}")
        self.expect_bytes()
        self.expect_shape((*x.shape[:2], len(self.rows), len(self.columns)))

    @property
    def kind(self) -> str:
        """With both sizes."""
        sizes = (" x ".join(map(str, each.shape[2:])) for each in (self.inputs[0], self.output))
        return f"linear interpolation, {' to '.join(sizes)}, in float32"

    @property
    def weights(self) -> npt.NDArray[np.float32]:
        """Weights of the four pixels, by row and column of the output: [rows, columns, 2, 2]."""
        rows = self.rows.weights[:, np.newaxis, :, np.newaxis]
        found: npt.NDArray[np.float32] = rows * self.columns.weights[np.newaxis, :, np.newaxis, :]
        return found

    def apply(self, *inputs: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """[batch, C, rows, columns]."""
        (x,) = inputs
        real, weights = self.inputs[0].dequantize(x), self.weights
        total = np.zeros((*x.shape[:2], len(self.rows), len(self.columns)), np.float32)
        for (down, row), (across, column) in itertools.product(
            enumerate((self.rows.first, self.rows.second)), enumerate((self.columns.first, self.columns.second))
        ):
            picked = real[:, :, row][:, :, :, column]
            total = total + weights[:, :, down, across] * picked  # float32, rounded each time
        return self.output.quantize(total)
