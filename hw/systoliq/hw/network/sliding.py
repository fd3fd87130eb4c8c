"""Sliding: a window buffer before what makes a beat of each window, channel by channel."""

from __future__ import annotations

import dataclasses

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ..hierarchy import place
from ..timeline import Steps, Timeline
from .blended import BlendedBuffer, BlendedWindow
from .depthwise import Depthwise
from .image import ImageWindow
from .maximum import Maximum
from .real_average import RealAverage
from .window_buffer import WindowBuffer

__all__ = ["Sliding"]


class Sliding(wiring.Component):
    """``core`` for the windows of images: a depthwise convolution or a pool; ``padding`` is the value outside of the
    image.

    ``i`` gives images in beats of the core's lanes, and ``o`` its results.
    """

    namespace = True

    def __init__(
        self, windows: ImageWindow, core: Depthwise | Maximum | RealAverage, *, padding: int, cells: str, kind: str
    ) -> None:
        self.windows = windows
        self.core = core
        self.kind = kind
        shape = core.i.payload.data.shape()
        buffer = BlendedBuffer if isinstance(windows, BlendedWindow) else WindowBuffer
        self.buffer = buffer(
            dataclasses.replace(windows, groups=windows.channels // shape.length),
            shape.elem_shape,
            word=shape.length,
            padding=padding,
            cells=cells,
            kind="window",
        )
        super().__init__(
            {
                "i": In(stream.Signature(self.buffer.i.payload.shape())),
                "o": Out(stream.Signature(core.o.payload.shape())),
            }
        )

    def timed(self, line: Timeline, taken: Steps) -> Steps:
        """Return the beats that leave."""
        return self.core.timed(line, self.buffer.timed(line, taken))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.window = place(self.buffer, platform)
        m.submodules.core = place(self.core, platform)
        wiring.connect(m, wiring.flipped(self.i), self.buffer.i)
        wiring.connect(m, self.buffer.o, self.core.i)
        wiring.connect(m, self.core.o, wiring.flipped(self.o))
        return m
