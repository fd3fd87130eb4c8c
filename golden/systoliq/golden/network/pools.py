"""Pools: the maximum or the average of the pixels of a window, channel by channel.

| MaxPool                            | the largest integer; padding is the smallest one                               |
| WholeAverage                       | a sum of integers over the whole image, requantized as in a layer              |
| WindowedAverage                    | float32, pixel by pixel in raster order, as in onnxruntime's kernel. Where no  |
|                                    | sum is close to a tie, it is the requantized sum of integers                   |
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..requantization import Requantization
from ..rescale import requantize_float32
from .average_sums import uncertain_sum
from .node import Node
from .tensor import Tensor
from .window import Window

__all__ = ["MaxPool", "WholeAverage", "WindowedAverage"]


@dataclass(frozen=True, kw_only=True, eq=False)
class MaxPool(Node):
    """The maximum of each window of an image [batch, C, H, W]; input and output have the same scale and zero point."""

    window: Window

    def __post_init__(self) -> None:
        _expect_windows(self, self.window)
        self.expect_same_count()

    @property
    def kind(self) -> str:
        """With its window."""
        return f"maximum of {self.window}"

    def apply(self, *inputs: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """[batch, C, rows, columns]."""
        (x,) = inputs
        greatest: npt.NDArray[Any] = self.window.patches(x, self.inputs[0].format.min).max(axis=(4, 5))
        return greatest


@dataclass(frozen=True, kw_only=True, eq=False)
class WholeAverage(Node):
    """The average over all pixels of an image [batch, C, H, W]: [batch, C, 1, 1].

    QLinearGlobalAveragePool, and QLinearAveragePool whose window is the image: the exact sum of x - zero point,
    requantized by `scale`.
    """

    def __post_init__(self) -> None:
        (x,) = self.inputs
        self.expect_same_format()
        self.expect_shape((*x.shape[:2], *[1] * (len(x.shape) - 2)))

    @property
    def kind(self) -> str:
        """With the number of its pixels."""
        return f"average of all {self.pixels} pixels"

    @property
    def pixels(self) -> int:
        """Number of pixels of an image."""
        return int(np.prod(self.inputs[0].shape[2:]))

    @property
    def scale(self) -> npt.NDArray[np.float32]:
        """From sum to output: f(x_scale / f(y_scale * pixels))."""
        return _average_scale(self.inputs[0], self.output, self.pixels)

    @property
    def requantization(self) -> Requantization:
        """The same rescaling in integers."""
        return Requantization.from_scales(self.scale, self.output.zero_point, self.output.format)

    def sums(self, x: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Sums of x - zero point: [batch, C, 1, 1]."""
        axes = tuple(range(2, x.ndim))
        return np.asarray((x.astype(np.int64) - self.inputs[0].zero_point).sum(axis=axes, keepdims=True))

    def apply(self, *inputs: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """[batch, C, 1, 1]."""
        (x,) = inputs
        return requantize_float32(self.sums(x), self.scale, self.output.zero_point, self.output.format)


@dataclass(frozen=True, kw_only=True, eq=False)
class WindowedAverage(Node):
    """The average of each window of an image [batch, C, H, W], in float32: QLinearAveragePool.

    rint(f(f(f(sum / n) / y_scale) + zy)), where sum adds f(x_scale * (x - zx)) in raster order, rounded after each
    pixel. n counts the window's pixels, including padding only if `counts_padding`. The result is a function of the sum
    of integers only if there is no `uncertain_sum`.
    """

    window: Window
    counts_padding: bool = False

    def __post_init__(self) -> None:
        _expect_windows(self, self.window)
        self.expect_same_format()

    @property
    def kind(self) -> str:
        """With its window."""
        return f"average of {self.window}, in float32"

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """n, by position of the window: [rows, columns]."""
        rows, columns = self.window.positions(self.inputs[0].shape[2:])
        if self.counts_padding:
            return np.full((rows, columns), np.prod(self.window.kernel))
        ones = np.ones((1, 1, *self.inputs[0].shape[2:]), np.int64)
        counts: npt.NDArray[np.int64] = self.window.patches(ones, 0).sum(axis=(4, 5))[0, 0]
        return counts

    def apply(self, *inputs: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """[batch, C, rows, columns]."""
        (x,) = inputs
        source = self.inputs[0]
        real = source.dequantize(self.window.patches(x, source.zero_point))
        flat = real.reshape(*real.shape[:4], -1)
        total = flat[..., 0]
        for index in range(1, flat.shape[-1]):
            total = total + flat[..., index]  # float32, rounded each time; a pixel of the padding adds 0
        return self.rounded(total, self.counts.astype(np.float32))

    def rounded(self, total: npt.NDArray[np.float32], counts: npt.ArrayLike) -> npt.NDArray[Any]:
        """The output for float32 sums of `counts` pixels, broadcast."""
        with np.errstate(over="ignore"):
            y = total / np.asarray(counts, np.float32) / self.output.scale + np.float32(self.output.zero_point)
        return self.output.format.saturate(np.rint(y))

    @property
    def requantization(self) -> Requantization:
        """The rescaling of sums of integers by `scale`; `uncertain_sum` says whether it gives the output."""
        return Requantization.from_scales(self.scale, self.output.zero_point, self.output.format)

    def expect_same_counts(self) -> None:
        """A ValueError if windows count different numbers of pixels."""
        least = int(self.counts.min())
        if least != self.pixels:
            raise ValueError(
                f"all windows must count the same number of pixels, not {least} to {self.pixels}: count_include_pad "
                "must be 1 where there are pads, and ceil_mode 0"
            )

    @cached_property
    def uncertain_sum(self) -> int | None:
        """A sum of integers for which the result may differ from the requantized sum; None if there is none.

        Raises ValueError if windows count different numbers of pixels, or scales are beyond 2^-80 to 2^80.
        """
        self.expect_same_counts()
        return uncertain_sum(self.inputs[0], self.output, self.counts, self.scale, self.rounded)

    @property
    def pixels(self) -> int:
        """The most pixels that a window counts."""
        return int(self.counts.max())

    @property
    def scale(self) -> npt.NDArray[np.float32]:
        """From sum to output: f(x_scale / f(y_scale * pixels))."""
        return _average_scale(self.inputs[0], self.output, self.pixels)


def _average_scale(x: Tensor, y: Tensor, pixels: int) -> npt.NDArray[np.float32]:
    with np.errstate(all="ignore"):
        return np.asarray(x.scale / (y.scale * np.float32(pixels)), np.float32)


def _expect_windows(node: Node, window: Window) -> None:
    (x,) = node.inputs
    if len(x.shape) != 4:
        raise ValueError(f"{x.name!r} must have the shape [batch, channels, rows, columns], not {list(x.shape)}")
    node.expect_shape((*x.shape[:2], *window.positions(x.shape[2:])))
