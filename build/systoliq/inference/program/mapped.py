"""Convolutions by address: the image as it is in memory, its windows read by the engine, no copy of them.

A pixel's channels are stored together, for all groups; a group's operation reads the group's channels.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from systoliq.hw.dma.convolutions import Maps, kernel_rows, parts
from systoliq.hw.engine import EngineConfig, JobShape
from systoliq.hw.network.image import ImageWindow

from ..operations import Image, Operation
from .pieces import Piece, blank, pieces_of

__all__ = ["cycles_of", "mapped", "maps_of"]


def maps_of(image: Image, operation: Operation, stride: int) -> Maps | None:
    """The maps that `operation`, a group of the convolution, sees, pixels `stride` bytes apart.

    None where the masters' registers cannot say them.
    """
    images, height, width, _ = image.pixels.shape
    windows = ImageWindow(window=image.window, image=(height, width), channels=image.kernels.shape[1])
    zero_point = operation.a_zero_point
    fill = 0 if zero_point is None else int(zero_point.reshape(()))
    try:
        return Maps(
            windows=windows,
            images=images,
            fill=fill,
            pixel_stride=stride,
            line_stride=width * stride,
            image_stride=height * width * stride,
        )
    except ValueError:
        return None


def mapped(
    image: Image, operation: Operation, group: int, maps: Maps, config: EngineConfig
) -> tuple[Operation, tuple[Piece, ...]]:
    """`operation` with A and B as the engine sees them, K filled up to whole beats, and its jobs over `maps`."""
    kernels = image.kernels[group * operation.shape[2] :][: operation.shape[2]]
    zero_point = operation.b_zero_point
    zeros = np.zeros((), kernels.dtype) if zero_point is None else zero_point.reshape(-1 if zero_point.size > 1 else ())
    b = kernel_rows(kernels, config, zeros)
    a = np.broadcast_to(np.zeros((), operation.a.dtype), (maps.rows, len(b)))
    whole = dataclasses.replace(operation, a=a, b=b)
    most = max(piece.rows.stop - piece.rows.start for piece in pieces_of(whole, config))
    while True:
        found = _pieces(whole, maps, most, config)
        if isinstance(found, tuple):
            return whole, found
        most = found


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
            beats = -(-shape.k // bus_bytes)
        else:
            windows = piece.maps[1].windows
            beats = math.prod(windows.window.kernel) * -(-windows.channels // bus_bytes)
        cycles += max(shape.groups * shape.column_tiles * shape.tile_cycles, shape.m * beats)
    return cycles
