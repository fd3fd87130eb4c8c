"""Maxima of windows by the vector unit: along one axis after the other, each tap a command with the result so far."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from systoliq.golden.formats import IntFormat
from systoliq.hw.dma.vector_commands import VectorOperation

from ...onnx.node import attribute
from ..operations import Array
from .vector_work import SCRATCH, VectorCommand, VectorWork, layout_of, rectangles

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["MAX_POOLS", "max_pool"]

MAX_POOLS = ("MaxPool", "NhwcMaxPool")


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Axis:
    """Windows along the axis `number`: `size` elements give `count`; the first window begins `pad` before the image."""

    number: int
    size: int
    count: int
    taps: int
    stride: int
    dilation: int
    pad: int

    def windows(self, tap: int) -> tuple[Array, Array]:
        """The windows whose `tap` is in the image, and its elements."""
        windows = np.arange(self.count)
        elements = windows * self.stride + tap * self.dilation - self.pad
        inside = (elements >= 0) & (elements < self.size)
        return windows[inside], elements[inside]

    def apply(self, x: Array) -> Array:
        """The maxima along this axis."""
        given = np.moveaxis(x, self.number, 0)
        found = np.full((self.count, *given.shape[1:]), np.iinfo(x.dtype).min, x.dtype)
        for tap in range(self.taps):
            windows, elements = self.windows(tap)
            found[windows] = np.maximum(found[windows], given[elements])
        return np.moveaxis(found, 0, self.number)


def max_pool(node: NodeProto, given: list[Array], y: Array) -> VectorWork:
    """The work of `node` for an input and an output as `given` and `y`; ValueError if the unit has none."""
    (x,) = given
    axes = _axes(node, x.shape, y.shape)
    form = IntFormat.of(x.dtype)
    busy = [axis for axis in axes if (axis.taps, axis.stride) != (1, 1)] or axes[:1]
    commands: list[VectorCommand] = []
    shape, source, scratch = list(x.shape), "a", 0
    for index, axis in enumerate(busy):
        target = "y" if index == len(busy) - 1 else SCRATCH if index % 2 == 0 else "y"
        if target == source:
            raise ValueError("its windows have more than two axes")
        after = [*shape]
        after[axis.number] = axis.count
        commands += _pass(axis, tuple(shape), tuple(after), source, target)
        scratch = max(scratch, layout_of(tuple(after)).bytes if target == SCRATCH else 0)
        shape, source = after, target

    def apply(image: Array) -> Array:
        for axis in axes:
            image = axis.apply(image)
        return image

    return VectorWork(
        operations=(VectorOperation.larger(form),), commands=tuple(commands), apply=apply, operand=form, output=form,
        scratch=scratch,
    )  # fmt: skip


def _axes(node: NodeProto, before: tuple[int, ...], after: tuple[int, ...]) -> list[_Axis]:
    taps = [int(each) for each in attribute(node, "kernel_shape", ())]
    rank = len(taps)
    first = len(before) - rank - (node.op_type == "NhwcMaxPool")
    if not 1 <= rank <= 2 or first < 1:
        raise ValueError(f"its windows must have 1 or 2 axes, not {rank}")
    if attribute(node, "auto_pad", b"NOTSET") not in (b"NOTSET", b"VALID"):
        raise ValueError("its padding must be given in numbers")
    if len(node.output) > 1 and node.output[1]:
        raise ValueError("the places of its maxima are an output, too")
    strides, dilations = (list(attribute(node, name, ())) or [1] * rank for name in ("strides", "dilations"))
    pads = list(attribute(node, "pads", ())) or [0] * (2 * rank)
    return [
        _Axis(
            number=first + i,
            size=before[first + i],
            count=after[first + i],
            taps=taps[i],
            stride=int(strides[i]),
            dilation=int(dilations[i]),
            pad=int(pads[i]),
        )
        for i in range(rank)
    ]


def _pass(
    axis: _Axis, before: tuple[int, ...], after: tuple[int, ...], source: str, target: str
) -> Iterator[VectorCommand]:
    """Commands along one axis: taps that all windows have come first, and the first two at once."""
    x, y = _cells(before, axis.number), _cells(after, axis.number)
    taps = sorted(range(axis.taps), key=lambda tap: len(axis.windows(tap)[0]) < axis.count)
    done = np.zeros(axis.count, bool)
    if len(taps) > 1 and all(len(axis.windows(tap)[0]) == axis.count for tap in taps[:2]):
        pair = [x.take(axis.windows(tap)[1], axis.number) for tap in taps[:2]]
        yield from _commands(pair, y, (source, source, target))
        taps, done = taps[2:], ~done
    for tap in taps:
        windows, elements = axis.windows(tap)
        for fresh in (True, False):
            some = done[windows] != fresh
            if some.any():
                b, into = x.take(elements[some], axis.number), y.take(windows[some], axis.number)
                yield from _commands([b if fresh else into, b], into, (source if fresh else target, source, target))
        done[windows] = True
    if not done.all():
        raise ValueError("some of its windows are outside of the image")


def _cells(shape: tuple[int, ...], axis: int) -> Array:
    """The offset of each element; with those between rows, if rows stay whole, so that rows can follow each other."""
    rows = layout_of(shape)
    size = rows.size if axis == len(shape) - 1 else rows.stride
    offsets: Array = np.arange(rows.count)[:, None] * rows.stride + np.arange(size)
    return offsets.reshape(*shape[:-1], size)


def _commands(operands: list[Array], y: Array, names: tuple[str, str, str]) -> Iterator[VectorCommand]:
    for rows, size, places in rectangles([*operands, y]):
        yield VectorCommand(
            operation=0, rows=rows, row_bytes=size,
            places=tuple((name, offset, stride) for name, (offset, stride) in zip(names, places, strict=True)),
        )  # fmt: skip
