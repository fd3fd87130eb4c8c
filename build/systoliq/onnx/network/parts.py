"""Averages whose windows count different numbers of pixels at the edges: one average for each part of the image."""

from __future__ import annotations

from dataclasses import dataclass

from systoliq.golden.network import Concatenation, Gather, Move, Node, Tensor, Window, WindowedAverage

__all__ = ["averages_by_parts"]

_MOST_PARTS = 3  # of rows, and of columns: pads of one pixel


@dataclass(frozen=True, kw_only=True)
class _Part:
    """Neighbouring windows along one axis that count the same taps: `size` windows of `taps`, from pixel `first` to
    `last`.
    """

    first: int
    last: int
    taps: int
    size: int


def averages_by_parts(node: WindowedAverage) -> tuple[Node, ...]:
    """Nodes that compute `node`: itself if all of its windows count the same number of pixels, else averages without
    pads of parts of the image, joined. Also itself if a window counts no pixel, or if there are more than 3 parts of
    the rows or of the columns.
    """
    (x,), window = node.inputs, node.window
    rows, columns = (_parts(window, axis, x.shape[2 + axis], node.output.shape[2 + axis]) for axis in (0, 1))
    if node.counts_padding or not len(rows) * len(columns) > 1 or max(len(rows), len(columns)) > _MOST_PARTS:
        return (node,)
    made: list[Node] = []
    lines = []
    for row in rows:
        line = [_average(node, row, column, made) for column in columns]
        lines.append(_joined(node, line, 3, made, last=len(rows) == 1))
    _joined(node, lines, 2, made, last=True)
    return tuple(made)


def _parts(window: Window, axis: int, size: int, count: int) -> list[_Part]:
    """The parts of an axis of `size` pixels and `count` windows; none if a window counts no pixel of it."""
    step, pad, taps = window.dilations[axis], window.pads[axis], window.kernel[axis]
    parts: list[_Part] = []
    for place in range(count):
        start = place * window.strides[axis] - pad
        counted = [start + tap * step for tap in range(taps) if 0 <= start + tap * step < size]
        if not counted:
            return []
        before = parts[-1] if parts else None
        if len(counted) == taps and before is not None and before.taps == taps:
            parts[-1] = _Part(first=before.first, last=counted[-1], taps=taps, size=before.size + 1)
        else:
            parts.append(_Part(first=counted[0], last=counted[-1], taps=len(counted), size=1))
    return parts


def _average(node: WindowedAverage, row: _Part, column: _Part, made: list[Node]) -> Tensor:
    """The averages of one part of the image."""
    x, y, window = node.inputs[0], node.output, node.window
    suffix = f"part {len([each for each in made if isinstance(each, WindowedAverage)])}"
    for axis, part in ((2, row), (3, column)):
        if (part.first, part.last) != (0, x.shape[axis] - 1):
            shape = (*x.shape[:axis], part.last - part.first + 1, *x.shape[axis + 1 :])
            picked = x.replace(name=f"{y.name}: {suffix}, {'rows' if axis == 2 else 'columns'}", shape=shape)
            movement = Gather(axis, tuple(range(part.first, part.last + 1)))
            made.append(Move(name=f"{node.name}: {picked.name}", inputs=(x,), output=picked, movement=movement))
            x = picked
    output = y.replace(name=f"{y.name}: {suffix}", shape=(*y.shape[:2], row.size, column.size))
    kernel = Window(kernel=(row.taps, column.taps), strides=window.strides, dilations=window.dilations)
    name = f"{node.name}: {suffix}"
    made.append(WindowedAverage(name=name, inputs=(x,), output=output, window=kernel))
    return output


def _joined(node: WindowedAverage, parts: list[Tensor], axis: int, made: list[Node], *, last: bool) -> Tensor:
    """The parts one after the other along `axis`; the last join makes the node's output."""
    if len(parts) == 1:
        return parts[0]
    y = node.output
    shape = list(parts[0].shape)
    shape[axis] = sum(part.shape[axis] for part in parts)
    output = y if last else y.replace(name=f"{parts[0].name}: line", shape=tuple(shape))
    name = node.name if last else f"{node.name}: line {len(made)}"
    made.append(Concatenation(name=name, inputs=tuple(parts), output=output, axis=axis))
    return output
