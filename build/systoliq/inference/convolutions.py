"""Convolutions of a lowered graph as operations of the engine: windows of pixels are rows (im2col), kernels columns.

Padding is the input's zero point. An output channel sees the channels of its group alone: an operation for each group.
An engine that reads its image from memory takes several groups as one job; see `program.mapped.joined`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from systoliq.golden.network import Window
from systoliq.golden.network.convolution import columns_of_kernels

from ..onnx.graph import Graph
from ..onnx.network.sums import window_of
from ..onnx.node import attribute
from .operations import Array, Asked, Image, Inputs, Operation, Rescaling

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["DEPTHWISE", "convolution", "convolution_reason"]

DEPTHWISE = "depthwise: a column of the array would have one channel's products alone"


def convolution(node: NodeProto, inputs: Inputs) -> Asked:
    """A convolution that is rescaled, with a bias or without, or int32 sums; a is the image, b are the kernels."""
    by, bias = Rescaling.of(inputs), inputs.get("bias")

    def of(a: Array, b: Array, channels: slice) -> Operation:
        return Operation(
            a=a,
            b=b,
            a_zero_point=inputs["a_zero_point"],
            b_zero_point=_of(inputs["b_zero_point"], channels),
            bias=None if bias is None else bias[channels],
            rescaling=None if by is None else dataclasses.replace(by, b_scale=_of(by.b_scale, channels)),
        )

    return _asked(node, inputs["a"], inputs["a_zero_point"], inputs["b"], of)


def convolution_reason(graph: Graph, node: NodeProto, weights: str, *, memory: bool) -> str | None:
    """Why the engine, with `memory` or streams, cannot take the convolution whose kernels are the tensor `weights`;
    None if it can.
    """
    shape = graph.shape(weights)
    if shape is None or len(shape) not in (3, 4):
        return "it must have one or two spatial dimensions"
    if attribute(node, "group", 1) > 1 and shape[1] == 1 and not memory:
        return DEPTHWISE
    return None


def _of(parameter: Any, channels: slice) -> Any:
    """The parameter's values for some output channels, or its only value; None if the node leaves it out."""
    if parameter is None:
        return None
    return parameter.reshape(-1)[channels] if parameter.size > 1 else parameter.reshape(())


def _asked(
    node: NodeProto, x: Array, zero_point: Array | None, w: Array, of: Callable[[Array, Array, slice], Operation]
) -> Asked:
    """The operations of all groups, made by `of` from rows, columns and the output channels.

    A convolution over lines [N, C, L] is one over images of one row.
    """
    last = bool(attribute(node, "channels_last", 0))
    image = np.moveaxis(x, -1, 1) if last else x
    window = window_of(node, image.shape[2:], w.shape[2:])
    places = "L" if w.ndim == 3 else "H, W"
    if w.ndim == 3:
        image, w = image[:, :, None], w[:, :, None]
    groups = int(attribute(node, "group", 1))
    width, depth = len(w) // groups, image.shape[1] // groups
    fill = 0 if zero_point is None else int(zero_point.reshape(()))
    operations = []
    for group in range(groups):
        channels = slice(group * width, (group + 1) * width)
        rows = _rows(window, image[:, group * depth : (group + 1) * depth], fill)
        operations.append(of(rows, columns_of_kernels(w[channels]), channels))
    shape = (len(image), *window.positions(image.shape[2:])[x.ndim == 3 :])
    form = f"[N, {places}, C]" if last else f"[N, C, {places}]"
    return Asked(
        operations=tuple(operations),
        finish=partial(_pixels, shape=shape, last=last),
        before={
            "a": "a row for each window of the image, batch by batch; in it kernel rows, kernel columns, channels of "
            "the operation's group; padding is the zero point of A",
            "b": "a column for each kernel of the group",
            "image": form,
            **{name: list(getattr(window, name)) for name in ("kernel", "strides", "dilations", "pads")},
        },
        after={"output": f"rows are pixels, columns channels, operation after operation: {form}"},
        image=Image(pixels=np.moveaxis(image, 1, -1), window=window, kernels=w),
    )


def _rows(window: Window, image: Array, fill: int) -> Array:
    """Windows of an image [batch, C, H, W] as rows [batch * positions, kernel rows * columns * C]."""
    patches = window.patches(image, fill).transpose(0, 2, 3, 4, 5, 1)
    return np.ascontiguousarray(patches).reshape(-1, int(np.prod(patches.shape[3:])))


def _pixels(results: Sequence[Array], *, shape: tuple[int, ...], last: bool) -> Array:
    """The groups' rows of channels as an image."""
    image = np.concatenate([result.reshape(*shape, -1) for result in results], axis=-1)
    return image if last else np.ascontiguousarray(np.moveaxis(image, -1, 1))
