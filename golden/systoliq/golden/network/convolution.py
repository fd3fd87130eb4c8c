"""Convolution: QLinearConv, a product of every window of pixels with constant weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..accumulate import exact_matmul, wrap_int32
from ..layer import MatMulLayer
from ..rescale import requantize_float32
from .node import Node
from .window import Window

__all__ = ["Convolution", "columns_of_kernels"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Convolution(Node):
    """Windows [rows * columns * C / groups] of an image [batch, C, H, W], times weights, requantized: [batch, M, ...].

    `layer` has the weights b [K, M], one column for each output channel, K = kernel rows * columns * C / groups in that
    order, the channel fastest. It also has the bias, scales and zero points. Output channel m sees the channels of
    group m // (M / groups). Padding is the input's zero point. With one group, the layer is the product; otherwise see
    `group`.
    """

    window: Window
    groups: int = 1
    layer: MatMulLayer

    def __post_init__(self) -> None:
        (x,) = self.inputs
        if len(x.shape) != 4:
            raise ValueError(f"{x.name!r} must have the shape [batch, channels, rows, columns], not {list(x.shape)}")
        batch, channels, *image = x.shape
        for name, count in (("input", channels), ("output", self.layer.n)):
            if self.groups < 1 or count % self.groups:
                raise ValueError(f"{count} {name} channels must be a multiple of {self.groups} groups")
        rows, columns = self.window.kernel
        if self.layer.k != rows * columns * (channels // self.groups):
            raise ValueError(
                f"the weights must have {rows} x {columns} x {channels // self.groups} rows for {channels} channels "
                f"in {self.groups} groups, not {self.layer.k}"
            )
        self.expect_shape((batch, self.layer.n, *self.window.positions(image)))
        self.expect_layer(self.layer)

    @property
    def depthwise(self) -> bool:
        """True if every group is one input channel."""
        return self.groups > 1 and self.groups == self.inputs[0].shape[1]

    @property
    def kind(self) -> str:
        """With its window, channels and groups."""
        groups = f" in {self.groups} groups" if self.groups > 1 and not self.depthwise else ""
        word = "depthwise convolution" if self.depthwise else "convolution"
        return f"{word} {self.window}, {self.inputs[0].shape[1]} -> {self.layer.n}{groups}"

    @property
    def multiply_accumulates(self) -> int:
        """K for every output."""
        return int(np.prod(self.output.shape)) * self.layer.k

    def group(self, index: int) -> MatMulLayer:
        """The product of the group `index`: its columns of the layer."""
        width = self.layer.n // self.groups
        part = slice(index * width, (index + 1) * width)
        layer = self.layer
        bias = None if layer.bias is None else layer.bias[part]
        return layer.replace(
            b=layer.b[:, part], b_zero_point=layer.b_zero_point[part], b_scale=layer.b_scale[part], bias=bias
        )

    @cached_property
    def _weights(self) -> npt.NDArray[np.int64]:
        """[groups, K, M / groups], less their zero points."""
        grouped = self.layer.centered_b.reshape(self.layer.k, self.groups, -1)
        return np.ascontiguousarray(grouped.transpose(1, 0, 2))

    def sums(self, x: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """The accumulators for `x`, bias included, wrapped to int32: [batch, rows, columns, M]."""
        zero_point = self.inputs[0].zero_point
        centered = x.astype(np.int16) - np.int16(zero_point)
        patches = self.window.patches(centered, 0)
        batch, channels, rows, columns, *kernel = patches.shape
        grouped = patches.reshape(batch, self.groups, channels // self.groups, rows, columns, *kernel)
        lines = grouped.transpose(1, 0, 3, 4, 5, 6, 2).reshape(self.groups, batch * rows * columns, self.layer.k)
        acc = exact_matmul(lines, self._weights).transpose(1, 0, 2).reshape(batch, rows, columns, self.layer.n)
        return wrap_int32(acc if self.layer.bias is None else acc + self.layer.bias)

    def apply(self, *inputs: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """[batch, M, rows, columns]."""
        (x,) = inputs
        layer = self.layer
        y = requantize_float32(self.sums(x), layer.scale, layer.y_zero_point, self.output.format)
        return np.ascontiguousarray(np.moveaxis(y, -1, 1))


def columns_of_kernels(w: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return ONNX's weights [M, C / groups, rows, columns] as a layer's b [rows * columns * C / groups, M]."""
    return np.ascontiguousarray(w.transpose(2, 3, 1, 0).reshape(-1, len(w)))
