"""Picture of a layout: cells by kind and wires by layer, as PNG."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from .layout import Layout

__all__ = ["layout_png", "png"]

_PIXELS = 1200  # of the longer side
_WIRE = 0.3  # micrometres, the width of most wires
_BACKGROUND = (250, 250, 250)
_FILLER = (235, 235, 235)
_LOGIC = (196, 210, 226)
_REGISTER = (244, 205, 144)
_CLOCK = (196, 226, 196)
_LAYERS = {
    "metal1": (52, 101, 164),
    "metal2": (204, 0, 0),
    "metal3": (78, 154, 6),
    "metal4": (143, 89, 2),
    "metal5": (117, 80, 123),
    "metal6": (85, 87, 83),
}


def layout_png(layout: Layout, sizes: Mapping[str, tuple[float, float]]) -> bytes:
    """Return the picture of `layout` with macros of these `sizes`: registers are orange, logic blue."""
    left, bottom, right, top = layout.outline
    scale = _PIXELS / max(right - left, top - bottom)
    height, width = round((top - bottom) * scale), round((right - left) * scale)
    image = np.full((height, width, 3), _BACKGROUND, dtype=np.uint8)

    def box(x0: float, y0: float, x1: float, y1: float) -> tuple[slice, slice]:
        columns = _span((x0 - left) * scale, (x1 - left) * scale)
        rows = _span((top - y1) * scale, (top - y0) * scale)
        return rows, columns

    for cell in layout.cells:
        wide, high = sizes.get(cell.kind, (0.0, 0.0))
        rows, columns = box(cell.x, cell.y, cell.x + wide, cell.y + high)
        image[rows, columns] = _colour(cell.kind)
        image[rows, columns.start : columns.start + 1] = _BACKGROUND
        image[rows.start : rows.start + 1, columns] = _BACKGROUND
    for layer, colour in _LAYERS.items():
        for wire in layout.wires:
            if wire.layer == layer:
                (x0, x1), (y0, y1) = sorted((wire.x0, wire.x1)), sorted((wire.y0, wire.y1))
                where = box(x0 - _WIRE / 2, y0 - _WIRE / 2, x1 + _WIRE / 2, y1 + _WIRE / 2)
                image[where] = (image[where] * 0.4 + np.array(colour) * 0.6).astype(np.uint8)
    return png(image)


def _span(start: float, end: float) -> slice:
    """The pixels from `start` to `end`, at least one."""
    first = max(0, round(start))
    return slice(first, max(first + 1, round(end)))


def _colour(kind: str) -> tuple[int, int, int]:
    if kind.startswith("FILL"):
        return _FILLER
    if kind.startswith(("DFF", "LATCH")):
        return _REGISTER
    return _CLOCK if kind.startswith("CLKBUF") else _LOGIC


def png(image: NDArray[np.uint8]) -> bytes:
    """Return an image of rows x columns x RGB as a PNG file."""
    height, width, _ = image.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), image.reshape(height, width * 3)], axis=1)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
