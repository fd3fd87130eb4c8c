"""Convolution: a window buffer before a dense layer, whose rows of A are the windows."""

from __future__ import annotations

from amaranth.hdl import Module, Shape, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ..dense import Dense
from ..hierarchy import place
from ..operand_shape import operand_shape
from ..result_buffer import y_beat
from ..timeline import Steps, Timeline
from .image import ImageWindow
from .window_buffer import WindowBuffer

__all__ = ["Convolution"]


class Convolution(wiring.Component):
    """``dense`` for each window of ``windows``: its K is the elements of a group, pixel by pixel, channels innermost.

    ``dense`` takes one row at a time; its depth divides the channels, or is several whole pixels of a window
    (`ImageWindow.taps`), and its lanes divide the output channels. Where windows move, ``dense`` is ``repeated``: the
    window buffer gives each window once for every column tile. ``i`` carries images in beats of ``depth`` channels,
    or of all channels if depth is larger; ``o`` carries the output channels in beats of ``lanes``.

    Raises ValueError for any other layer.
    """

    namespace = True

    def __init__(self, windows: ImageWindow, dense: Dense, *, padding: int, kind: str) -> None:
        config = dense.config
        elements = windows.elements // windows.groups
        if dense.layer.k != elements:
            raise ValueError(f"the layer's K must be the window's {elements} elements, not {dense.layer.k}")
        if config.rows != 1:
            raise ValueError(f"rows must be 1, not {config.rows}")
        if dense.layer.n % dense.schedule.lanes:
            raise ValueError(
                f"the lanes, {dense.schedule.lanes} for {config.cols} columns, must divide the {dense.layer.n} output "
                "channels"
            )
        if dense.repeated != windows.moves:
            raise ValueError(f"repeated must be {windows.moves} for these windows, not {dense.repeated}")
        self.windows = windows
        self.dense = dense
        self.kind = kind
        element = operand_shape(config.a)
        self.buffer: WindowBuffer | None = None
        word = windows.word(config.depth)
        if windows.moves:
            taps = windows.taps(config.depth)
            self.buffer = WindowBuffer(
                windows,
                element,
                word=word,
                padding=padding,
                cells=config.cells,
                kind="window",
                taps=taps,
                times=dense.repeats,
            )
        result = dense.y.payload.data.shape()
        super().__init__(self._ports(y_beat(element, word), y_beat(Shape.cast(result.elem_shape), result.length)))

    def _ports(self, given: data.StructLayout, made: data.StructLayout) -> dict[str, wiring.Member]:
        """The streams of the component: beats of an image are ``given``, beats of results ``made``."""
        return {"i": In(stream.Signature(given)), "o": Out(stream.Signature(made))}

    def timed(self, line: Timeline, taken: Steps) -> Steps:
        """Return the beats that leave."""
        if self.buffer is not None:
            taken = self.buffer.timed(line, taken)
        return self.dense.timed(line, taken)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        self._multiply(m, platform, wiring.flipped(self.i))
        y = self.dense.y
        m.d.comb += [
            self.o.valid.eq(y.valid),
            self.o.payload.eq(y.payload),
            y.ready.eq(self.o.ready),
        ]
        return m

    def _multiply(self, m: Module, platform: object, source: stream.Interface) -> None:
        """Lead the images of ``source`` through windows to the dense layer."""
        m.submodules.dense = place(self.dense, platform)
        if self.buffer is not None:
            m.submodules.window = place(self.buffer, platform)
            wiring.connect(m, source, self.buffer.i)
            source = self.buffer.o
        a = self.dense.a
        m.d.comb += [
            a.valid.eq(source.valid),
            Value.cast(a.payload.data).eq(Value.cast(source.payload.data)),
            a.payload.last.eq(source.payload.last),
            source.ready.eq(a.ready),
        ]
