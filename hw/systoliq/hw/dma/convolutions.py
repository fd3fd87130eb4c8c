"""Convolutions in memory: where a map of pixels lies whose windows are the rows of A, and the walk over it.

The K of such a job runs over the lines of taps, the taps of a line, and their channels; where an engine has a depth, a
tap's channels are filled up to a multiple of it.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.network import Window

from ..engine import EngineConfig
from ..network.image import ImageWindow
from .bus import ADDRESS_BITS
from .map_walk import COORDINATE_BITS, MapSettings

__all__ = ["Maps", "is_copied", "kernel_rows", "map_fields", "parts", "runs_of_group"]

Array = npt.NDArray[Any]
_FAR = 1 << (COORDINATE_BITS - 1)  # a pixel's coordinates are at least -_FAR, and less than it
_SPACE = 1 << ADDRESS_BITS


@dataclasses.dataclass(frozen=True, kw_only=True)
class Maps:
    """`images` maps [images, height, width, channels] of bytes under a window; its places are the rows of A.

    `fill` is the byte, int8 or uint8, for pixels outside of an image: A's zero point. `pixel_stride`, `line_stride` and
    `image_stride` are the bytes from one pixel, line or image to the next; None means without a gap. A group of
    channels, or a part of each image, is therefore a map too.
    """

    windows: ImageWindow
    images: int = 1
    fill: int = 0
    pixel_stride: int | None = None
    line_stride: int | None = None
    image_stride: int | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for values that do not fit the registers of the masters."""
        windows, window = self.windows, self.windows.window
        pixel, line, image = self.strides
        (height, width), channels = windows.image, windows.channels
        if self.images < 1:
            raise ValueError(f"images must be at least 1, not {self.images!r}")
        if channels < 1 or windows.groups != 1:
            raise ValueError(
                f"a convolution must be of 1 or more channels in one group, not {channels!r} in {windows.groups!r}: "
                "give each group a map of its own, with pixel_stride"
            )
        if not -128 <= self.fill <= 255:
            raise ValueError(f"fill must be a byte, -128 to 255, not {self.fill!r}")
        for name, value, least in (
            ("pixel_stride", pixel, channels), ("line_stride", line, 0), ("image_stride", image, 0)
        ):  # fmt: skip
            if not least <= value < _SPACE:
                raise ValueError(f"{name} must be {least} to 2^{ADDRESS_BITS} - 1 bytes, not {value!r}")
        for name, pair, field in (
            ("kernel", window.kernel, "taps_y"), ("strides", window.strides, "stride_y"),
            ("dilations", window.dilations, "dilation_y"), ("out", windows.out, "out_height"),
        ):  # fmt: skip
            most = (1 << MapSettings[field].width) - 1
            if max(pair) > most:
                raise ValueError(f"{name} must be at most {most} by {most}, not {' by '.join(map(str, pair))}")
        for name, size, low, high in zip(
            ("height", "width"), (height, width), window.pads[:2], window.pads[2:], strict=True
        ):
            if low > _FAR or size + high > _FAR:
                raise ValueError(
                    f"{name} must be at most {_FAR} with the padding behind it, and the padding before it, not {size} "
                    f"with {high}, and {low}"
                )

    @classmethod
    def of(cls, shape: tuple[int, int, int, int], window: Window, fill: int = 0, **strides: int) -> Maps:
        """Maps of an array [images, height, width, channels]."""
        images, height, width, channels = shape
        windows = ImageWindow(window=window, image=(height, width), channels=channels)
        return cls(windows=windows, images=images, fill=fill, **strides)

    @property
    def rows(self) -> int:
        """Rows of A: places of the window in all images."""
        down, across = self.windows.out
        return self.images * down * across

    def k(self, config: EngineConfig) -> int:
        """Columns of A, for an engine."""
        taps = self.windows.window.kernel[0] * self.windows.window.kernel[1]
        return taps * -(-self.windows.channels // config.depth) * config.depth

    @property
    def strides(self) -> tuple[int, int, int]:
        """Bytes from pixel to pixel, line to line, image to image."""
        (height, width), channels = self.windows.image, self.windows.channels
        pixel = channels if self.pixel_stride is None else self.pixel_stride
        line = width * pixel if self.line_stride is None else self.line_stride
        return pixel, line, height * line if self.image_stride is None else self.image_stride

    @property
    def row_stride(self) -> int:
        """Bytes from a row of A to the next one of its line."""
        return self.strides[0] * self.windows.window.strides[1]

    @property
    def size(self) -> int:
        """Bytes from the first one to the last, both included."""
        pixel, line, image = self.strides
        height, width = self.windows.image
        return (self.images - 1) * image + max(height - 1, 0) * line + max(width - 1, 0) * pixel + self.windows.channels

    def check(self, config: EngineConfig, m: int, k: int, address: int) -> None:
        """Raise ValueError if A [m, k] of an engine's job does not match these maps, at this address."""
        if self.windows.channels % config.depth and config.float8:
            raise ValueError(
                f"channels must be a multiple of depth {config.depth} for float8, not {self.windows.channels}: what "
                "fills them up may be NaN"
            )
        if (m, k) != (self.rows, self.k(config)):
            raise ValueError(f"A of these maps must be [{self.rows}, {self.k(config)}], not [{m}, {k}]")
        if not 0 <= address <= _SPACE - self.size:
            raise ValueError(f"maps of {self.size} bytes must lie within 2^{ADDRESS_BITS} bytes, not at {address:#x}")


def parts(maps: Maps, most: int) -> Iterator[tuple[int, int, Maps]]:
    """Parts of at most `most` rows: (the first one's number, bytes from the maps' address, the part's maps).

    They are whole images, lines of windows of one image, or windows of one line.
    """
    if most < 1:
        raise ValueError(f"most must be at least 1, not {most!r}")
    (down, across), image = maps.windows.out, maps.strides[2]
    if down * across <= most:
        images = most // (down * across)
        for first in range(0, maps.images, images):
            count = min(images, maps.images - first)
            yield first * down * across, first * image, dataclasses.replace(maps, images=count)
        return
    lines, columns = max(most // across, 1), min(most, across)
    for index, y, x in itertools.product(range(maps.images), range(0, down, lines), range(0, across, columns)):
        at, part = _part(maps, (y, min(y + lines, down)), (x, min(x + columns, across)))
        yield (index * down + y) * across + x, index * image + at, part


def _part(maps: Maps, *places: tuple[int, int]) -> tuple[int, Maps]:
    """The windows of one image between these places along lines and columns, and the first of their pixels."""
    window, offset, sizes, before, after = maps.windows.window, 0, [], [], []
    for axis, (first, end) in enumerate(places):
        low = first * window.strides[axis] - window.pads[axis]
        high = (end - 1) * window.strides[axis] - window.pads[axis] + window.spans[axis]
        size = maps.windows.image[axis]
        begin, behind = min(max(low, 0), size), min(max(high, 0), size)
        sizes.append(behind - begin)
        before.append(min(max(-low, 0), high - low) if behind > begin else high - low)
        after.append(max(high - size, 0) if behind > begin else 0)
        offset += begin * maps.strides[1 - axis]
    moved = dataclasses.replace(window, pads=(before[0], before[1], after[0], after[1]))
    windows = dataclasses.replace(maps.windows, window=moved, image=(sizes[0], sizes[1]))
    pixel, line, image = maps.strides
    return offset, dataclasses.replace(
        maps, images=1, windows=windows, pixel_stride=pixel, line_stride=line, image_stride=image
    )


def kernel_rows(kernels: Array, config: EngineConfig, zero_points: Array) -> Array:
    """B [k, n] of kernels [n, channels, rows, columns], as ONNX has them; what fills up a tap's channels adds nothing.

    `zero_points` is one for all kernels, or one for each.
    """
    n, channels, rows, columns = kernels.shape
    whole = -(-channels // config.depth) * config.depth
    b = np.empty((rows, columns, whole, n), kernels.dtype)
    b[:] = np.broadcast_to(zero_points, n)
    b[:, :, :channels] = kernels.transpose(2, 3, 1, 0)
    return b.reshape(-1, n)


def is_copied(maps: Maps, config: EngineConfig, bus_bytes: int, n: int) -> bool:
    """True if the array waits less for A when A is an im2col matrix in memory, for a product of `n` columns.

    This is the case if a pixel has few channels, since each tap takes at least one beat of the bus. Compares the beats
    for a group of rows, which are read once for any number of column tiles; the time to make the matrix is not
    included.
    """
    channels, k = maps.windows.channels, maps.k(config)
    steps = -(-channels // bus_bytes)
    within = 0.0 if maps.strides[0] % bus_bytes == 0 else (channels - steps) / bus_bytes  # beats more, on the average
    by_address = runs_of_group(maps.windows, config.rows, bus_bytes) * (1 + within / steps)
    needed = k // config.depth * -(-n // config.cols)
    return by_address > max(needed, config.rows * -(-k // bus_bytes))


def runs_of_group(windows: ImageWindow, rows: int, bus_bytes: int) -> float:
    """Runs of `MapWalk` for a group of `rows` windows, on average of an image's groups."""
    (down, across), window, steps = windows.out, windows.window, -(-windows.channels // bus_bytes)
    high, wide = window.kernel
    runs = rows * high * wide * steps
    if steps > 1 or window.strides[1] != window.dilations[1]:
        return runs
    first = np.arange(0, down * across, rows)
    last = np.minimum(first + rows, down * across) - 1
    in_one_line = float(np.mean(first // across == last // across))
    return runs - in_one_line * high * (rows - 1) * (wide - 1)


def map_fields(maps: Maps, bus_bytes: int, address: int) -> tuple[int, dict[str, int]]:
    """The address where the walk over `maps` at `address` begins, and its fields of `MapSettings`."""
    window, (down, across) = maps.windows.window, maps.windows.out
    (high, wide), (by_y, by_x), (far_y, far_x) = window.kernel, window.strides, window.dilations
    pixel, line, image = maps.strides
    behind = (-(-maps.windows.channels // bus_bytes) - 1) * bus_bytes  # the last step at a tap
    line_back, lines_back = (across - 1) * by_x * pixel, (down - 1) * by_y * line
    taps_back = (wide - 1) * far_x * pixel + behind
    fields = {
        "line_stride": by_y * line - line_back,
        "image_stride": image - lines_back - line_back,
        "tap_stride": far_x * pixel - behind,
        "tap_line_stride": far_y * line - taps_back,
        "out_width": across,
        "out_height": down,
        "width": maps.windows.image[1],
        "height": maps.windows.image[0],
        "origin_x": -window.pads[1],
        "origin_y": -window.pads[0],
        "taps_x": wide,
        "taps_y": high,
        "fill": maps.fill,
        "stride_x": by_x,
        "stride_y": by_y,
        "dilation_x": far_x,
        "dilation_y": far_y,
    }
    return address - window.pads[0] * line - window.pads[1] * pixel, fields
