"""Convolutions by address: the image as it is in memory, its windows read by the engine, no copy of them.

A pixel's channels are stored together, for all groups; a job reads the channels of some groups.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from systoliq.hw.dma.convolutions import Maps, kernel_rows, parts, runs_of_group
from systoliq.hw.engine import EngineConfig, JobShape
from systoliq.hw.engine.config import LARGEST
from systoliq.hw.network.image import ImageWindow

from ..operations import Array, Image, Operation
from .pieces import Piece, blank, pieces_of

__all__ = ["cycles_of", "joined"]


def joined(
    image: Image, groups: Sequence[Operation], stride: int, config: EngineConfig, bus_bytes: int
) -> tuple[Operation, tuple[Piece, ...]] | None:
    """All `groups` of a convolution as one operation, and its jobs, for pixels `stride` bytes apart.

    A job has several groups: their kernels are blocks on the diagonal of its B, and the zero point elsewhere adds
    nothing. K of a job is filled up to whole beats. None where the masters' registers cannot say the windows.
    """
    width, channels = groups[0].shape[2], image.kernels.shape[1]
    size = _groups_of_a_job(image, width, len(groups), config, bus_bytes)
    pieces: list[Piece] = []
    for first in range(0, len(groups), size):
        part = _side_by_side(groups[first : first + size])
        count = part.shape[2] // width
        kernels = _diagonal(image.kernels[first * width :][: count * width], count, _zero_points(part))
        maps = _maps(image, part, stride, kernels.shape[1])
        if maps is None or maps.k(config) > LARGEST:
            return None
        pieces += [
            dataclasses.replace(
                piece,
                columns=slice(piece.columns.start + first * width, piece.columns.stop + first * width),
                maps=(offset + first * channels, windows),
            )
            for piece, offset, windows in _jobs(part, kernels, maps, config)
        ]
    whole = _side_by_side(groups)
    k = whole.shape[1] * len(groups)
    return (
        dataclasses.replace(
            whole,
            a=blank(np.broadcast_to(whole.a[:1, :1], (whole.shape[0], k))),
            b=blank(np.broadcast_to(whole.b[:1, :1], (k, whole.shape[2]))),
        ),
        tuple(pieces),
    )


def _groups_of_a_job(image: Image, width: int, groups: int, config: EngineConfig, bus_bytes: int) -> int:
    """The number of groups of `width` columns in a job: those that fill the array's columns, or 2, 4, ... times that
    number if each group then takes fewer cycles.

    With more groups, a beat of A is read for more columns, and the array multiplies more zeros.
    """
    channels, taps = int(image.kernels.shape[1]), math.prod(image.window.kernel)
    _, height, wide, _ = image.pixels.shape

    def shape(size: int) -> JobShape:
        """The job of as many rows as the array has."""
        k = taps * -(-size * channels // config.depth) * config.depth
        return JobShape(m=config.rows, k=k, n=size * width, config=config)

    def cycles(size: int) -> float:
        """Cycles of the array, or of A's beats."""
        windows = ImageWindow(window=image.window, image=(height, wide), channels=size * channels)
        return max(shape(size).b_words, runs_of_group(windows, config.rows, bus_bytes)) / size

    sizes = [max(config.cols // width, 1)]
    while (
        (size := 2 * sizes[-1]) < 2 * groups
        and size * width <= config.max_columns
        and shape(size).beats <= config.a_words
        and shape(size).b_words <= config.b_words
    ):
        sizes.append(size)
    return min(sizes, key=cycles)


def _side_by_side(groups: Sequence[Operation]) -> Operation:
    """The groups' columns as the columns of one operation; its A is the first one's, and its B only has the right
    width.
    """
    first = groups[0]

    def together(of: Callable[[Operation], Array | None]) -> Array | None:
        values = [value for each in groups if (value := of(each)) is not None]
        if not values:
            return None
        return np.concatenate(values) if values[0].ndim else values[0]

    by = first.rescaling
    if by is not None:
        scales = together(lambda each: None if each.rescaling is None else each.rescaling.b_scale)
        by = dataclasses.replace(by, b_scale=by.b_scale if scales is None else scales)
    return dataclasses.replace(
        first,
        b=np.broadcast_to(first.b[:, :1], (first.shape[1], sum(each.shape[2] for each in groups))),
        b_zero_point=together(lambda each: each.b_zero_point),
        bias=together(lambda each: each.bias),
        rescaling=by,
    )


def _zero_points(operation: Operation) -> Array:
    """The zero points of B: one, or one for each column."""
    zero_point = operation.b_zero_point
    if zero_point is None:
        return np.zeros((), operation.b.dtype)
    return zero_point.reshape(-1 if zero_point.size > 1 else ())


def _diagonal(kernels: Array, groups: int, zero_points: Array) -> Array:
    """Kernels [N, channels of a group, rows, columns] over the channels of all groups: zero points elsewhere."""
    n, channels, *taps = kernels.shape
    whole = np.empty((n, groups * channels, *taps), kernels.dtype)
    whole[:] = np.broadcast_to(zero_points, n).reshape(-1, 1, 1, 1)
    width = n // groups
    for group in range(groups):
        own = slice(group * width, (group + 1) * width)
        whole[own, group * channels : (group + 1) * channels] = kernels[own]
    return whole


def _maps(image: Image, operation: Operation, stride: int, channels: int) -> Maps | None:
    """The maps of `channels` channels that `operation` sees, pixels `stride` bytes apart; None if there can be none."""
    images, height, width, _ = image.pixels.shape
    zero_point = operation.a_zero_point
    try:
        return Maps(
            windows=ImageWindow(window=image.window, image=(height, width), channels=channels),
            images=images,
            fill=0 if zero_point is None else int(zero_point.reshape(())),
            pixel_stride=stride,
            line_stride=width * stride,
            image_stride=height * width * stride,
        )
    except ValueError:
        return None


def _jobs(operation: Operation, kernels: Array, maps: Maps, config: EngineConfig) -> Iterator[tuple[Piece, int, Maps]]:
    """The jobs of `operation` with these kernels over `maps`, where their maps begin, and these."""
    b = kernel_rows(kernels, config, _zero_points(operation))
    a = np.broadcast_to(np.zeros((), operation.a.dtype), (maps.rows, len(b)))
    whole = dataclasses.replace(operation, a=a, b=b)
    most = max(piece.rows.stop - piece.rows.start for piece in pieces_of(whole, config))
    while isinstance(found := _pieces(whole, maps, most, config), int):
        most = found
    for piece in found:
        if piece.maps is not None:
            yield piece, *piece.maps


def _pieces(whole: Operation, maps: Maps, most: int, config: EngineConfig) -> tuple[Piece, ...] | int:
    """Jobs over parts of at most `most` rows; or how many rows there may be, where a part was cut again."""
    pieces = []
    for first, offset, part in parts(maps, most):
        own = dataclasses.replace(whole, a=blank(whole.a[: part.rows]))
        for piece in pieces_of(own, config):
            rows = int(piece.rows.stop - piece.rows.start)
            if rows < part.rows:
                return rows
            pieces.append(dataclasses.replace(piece, rows=slice(first, first + rows), maps=(offset, part)))
    return tuple(pieces)


def cycles_of(pieces: tuple[Piece, ...], config: EngineConfig, bus_bytes: int) -> int:
    """Cycles of jobs, one behind the other, by whichever takes longer: the array, or beats of A from memory."""
    cycles = 0
    for piece in pieces:
        shape = JobShape(m=piece.job.m, k=piece.job.k, n=piece.job.n, config=config)
        if piece.maps is None:
            beats = float(-(-shape.k // bus_bytes))
        else:
            beats = runs_of_group(piece.maps[1].windows, config.rows, bus_bytes) / config.rows
        cycles += max(shape.groups * shape.column_tiles * shape.tile_cycles, math.ceil(shape.m * beats))
    return cycles
