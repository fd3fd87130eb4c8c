"""Window buffer: takes the pixels of images in raster order, and returns each window's pixels, including padding."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from amaranth.hdl import Cat, Const, Module, Mux, Shape, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ..block_ram import BlockRam
from ..delay import delay
from ..fifo import Fifo
from ..hierarchy import place
from ..result_buffer import y_beat
from ..timeline import Steps, Timeline
from .credit_pipeline import credit_depth, credit_pipeline_timed, enter
from .image import ImageWindow, Loop
from .line_pace import LAG
from .walk import Walk, numbered

__all__ = ["WindowBuffer"]

_COMPLETE = 2  # cycles from the last word of a line until it counts as complete
_OPENS = 3  # cycles from the last fetch of a row of windows to the first word in a line that it frees


class WindowBuffer(wiring.Component):
    """Lines of images in a memory, as many as ``windows`` needs and the next ones to come.

    ``i`` carries images pixel by pixel, ``word`` channels a beat (a divisor of a group's); ``last`` is ignored. ``o``
    gives the windows, one output pixel after the other, in beats of ``word`` elements: group after group of channels,
    each pixel by pixel. ``padding`` is the value outside of the image. ``last`` marks an image's last beat.

    ``taps`` are the rows and columns of a window's pixels that come in one beat, in their order, each with ``word``
    channels, which are then all of a group's: as many copies of the lines are kept, and each is read by itself.

    A group's part of a window comes ``times`` times in a row, and ``last`` in the last of them only.

    A row of windows begins when all lines that it needs have come, and two cycles after the one before it. While lines
    come in time a beat leaves each cycle, without a gap between windows, rows of two beats or more, or images.

    A word is read if there is room for it in the FIFO behind the memory: reading never waits halfway, and no path leads
    from ``o.ready`` to the memory.
    """

    def __init__(
        self,
        windows: ImageWindow,
        shape: Shape,
        *,
        word: int,
        padding: int,
        cells: str,
        kind: str,
        taps: tuple[int, int] = (1, 1),
        times: int = 1,
    ) -> None:
        if windows.channels // windows.groups % word:
            group = " of a group" if windows.groups > 1 else ""
            raise ValueError(f"word must divide the {windows.channels // windows.groups} channels{group}, not {word!r}")
        channels = windows.channels // windows.groups
        if taps != (1, 1) and channels != word:
            raise ValueError(f"word must be all {channels} channels for {taps} taps, not {word!r}")
        self.windows = windows
        self.taps = taps
        self.times = times
        self.padding = padding
        self.kind = kind
        self.words = windows.channels // word  # of a pixel
        self._line = windows.image[1] * self.words
        count = taps[0] * taps[1]
        depth = self.depth_of(windows, word, count, times)
        self.rams = [BlockRam(shape.width * word, depth=depth, cells=cells) for _ in range(count)]
        given, made = y_beat(shape, word), y_beat(shape, word * count)
        self.fifo = Fifo(made, depth=self.fifo_depth(cells), cells=cells)
        super().__init__({"i": In(stream.Signature(given)), "o": Out(stream.Signature(made))})

    @staticmethod
    def depth_of(windows: ImageWindow, word: int, pixels: int = 1, times: int = 1) -> int:
        """Words of the memory, of ``word`` channels each: a power of two. A beat takes words of ``pixels`` pixels, and
        a window comes ``times`` times.
        """
        line = windows.image[1] * (windows.channels // word)
        row = windows.out[1] * windows.elements // (word * pixels) * times  # beats
        late = row < max(windows.lines_needed()) * line + LAG
        lines = windows.lines + (-(-LAG // line) if late else 0)
        return 1 << max(lines * line - 1, 1).bit_length()

    @staticmethod
    def fifo_depth(cells: str) -> int:
        """Beats that the FIFO behind the memory has room for."""
        return credit_depth(BlockRam.latency_of(cells), least=8)

    @property
    def lines(self) -> int:
        """Lines that the memory has room for."""
        return self.rams[0].depth // self._line

    @property
    def beats(self) -> int:
        """Beats of one window, all repetitions included."""
        return self.windows.elements // len(self.o.payload.data) * self.times

    def timed(self, line: Timeline, taken: Steps) -> Steps:
        """Return the beats of windows that leave, from the words that come."""
        windows = self.windows
        images = len(taken) // (windows.image[0] * self._line)
        needed, freed = (np.cumsum(each * images) for each in (windows.lines_needed(), windows.lines_freed()))
        rows, beats = np.arange(len(needed)), windows.out[1] * self.beats
        fetched = line.steps(len(rows) * beats)
        complete, begun = line.steps(len(rows)), line.steps(len(rows))
        complete.after_some(taken, _COMPLETE, needed * self._line - 1)
        complete.after(begun, 1, lag=1)
        begun.after(complete, 1)
        begun.after_some(fetched, 0, rows * beats - 1)  # with the last beat of the row before
        fetched.after_some(begun, 1, np.arange(len(fetched)) // beats)
        full = np.arange(len(taken)) // self._line + 1 - self.lines  # lines that must be free
        row = np.searchsorted(freed, full)
        taken.after_some(fetched, _OPENS, np.where(full > 0, (row + 1) * beats - 1, -1))
        return credit_pipeline_timed(line, fetched, self.fifo, latency=self.rams[0].latency)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        windows, rams = self.windows, self.rams
        for index, ram in enumerate(rams):
            m.submodules[f"ram_{index}" if index else "ram"] = place(ram, platform)
        most = range(max(windows.lines_freed()) + 1)
        ended = Signal()  # a row of windows, a cycle ago
        freed_by = Signal(most, reset_less=True)
        freed = Signal(most)
        m.d.comb += freed.eq(Mux(ended, freed_by, 0))
        came = delay(m, self._take(m, freed), 1, name="came", reset_less=False)

        granted = Signal()
        reading = Signal()
        latency = rams[0].latency
        word = Signal.like(Value.cast(self.fifo.i.payload))
        fetch = enter(m, platform, reading, self.fifo, word, latency=latency)
        loops = windows.loops(self.words, self.taps, self.times)
        walk = Walk(m, [loop.count for loop in loops], step=fetch, name="round")
        row_ends, image_ends = walk.last[-2:]
        ends = row_ends & fetch
        self._grant(m, granted, came, keeps=reading & ~ends)
        freed_now = numbered(m, walk.counts[-1].value, windows.lines_freed(), name="freed_now")
        m.d.sync += [
            reading.eq(Mux(reading & ~ends, 1, granted)),
            ended.eq(ends),
            freed_by.eq(freed_now),
        ]

        outside = self._outside(walk, loops)
        flags = delay(m, Cat(image_ends, *outside.values()), latency, name="flags")
        element = self.o.payload.data.shape().elem_shape
        padding = Const(self.padding, element).replicate(len(self.i.payload.data))
        words = []
        for index, (ram, tap) in enumerate(zip(rams, outside, strict=True)):
            m.d.comb += [
                ram.read.eq(fetch),
                ram.read_address.eq(self._address(m, walk, loops, tap)),
                ram.show.eq(delay(m, fetch, 1, name="show") if latency == 2 else 1),
            ]
            words.append(Mux(flags[1 + index], padding, ram.read_data))
        m.d.comb += word.eq(Cat(*words, flags[0]))
        wiring.connect(m, self.fifo.o, wiring.flipped(self.o))
        return m

    def _address(self, m: Module, walk: Walk, loops: Sequence[Loop], tap: tuple[int, int]) -> Value:
        """Address of the current pixel of the row and column ``tap`` among the taps of a beat."""
        windows = self.windows
        (top, left, *_), (down, across) = windows.window.pads, windows.window.dilations
        start = ((tap[0] * down - top) * windows.image[1] + tap[1] * across - left) * self.words
        moves = [*(loop.words for loop in loops), windows.pixels * self.words]
        return walk.place(moves, start, len(self.rams[0].read_address), name=f"address{_suffix(*tap)}")

    def _take(self, m: Module, freed: Value) -> Value:
        """Words into the memory, where there is room for their line; whether one that ends a line came."""
        # Lines, without the one that is written. Those that strides leap over are free before they come.
        room = Signal(range(self.lines + max(self.windows.lines_freed()) + 1), init=self.lines - 1)
        open_ = Signal(init=1)
        write = self.i.valid & open_
        ends = Walk(m, [self._line], step=write, name="taken").last[0]
        newest = Signal(range(self.rams[0].depth))
        m.d.comb += self.i.ready.eq(open_)
        for ram in self.rams:
            m.d.comb += [
                ram.write.eq(write),
                ram.write_address.eq(newest),
                ram.write_data.eq(Value.cast(self.i.payload.data)),
            ]
        with m.If(write):
            m.d.sync += newest.eq(newest + 1)
        opens = Signal()
        came = write & ends
        m.d.comb += opens.eq((came | ~open_) & (room != 0))
        m.d.sync += room.eq(room + freed - opens)
        with m.If(opens):
            m.d.sync += open_.eq(1)
        with m.Elif(came):
            m.d.sync += open_.eq(0)
        return came

    def _grant(self, m: Module, granted: Signal, came: Value, *, keeps: Value) -> None:
        """``granted``: the lines that the next row of windows needs have come. It begins, and the next one can be
        granted, unless a row ``keeps`` the memory.
        """
        needed = self.windows.lines_needed()
        row = Signal(range(len(needed)))
        # complete lines, less those that the next row needs
        surplus = Signal(range(-max(needed), self.lines + 1), init=-needed[0])
        after = numbered(m, row, [*needed[1:], needed[0]], name="needed_after")
        enough = Signal()
        m.d.comb += enough.eq(~granted & ~surplus[-1])
        m.d.sync += [surplus.eq(surplus + came - Mux(enough, after, 0)), granted.eq(enough | (granted & keeps))]
        with m.If(enough):
            m.d.sync += row.eq(Mux(row == len(needed) - 1, 0, row + 1))

    def _outside(self, walk: Walk, loops: Sequence[Loop]) -> dict[tuple[int, int], Value]:
        """True if the current pixel is padding, for each of the `taps`, row by row."""
        window, image = self.windows.window, self.windows.image
        found: list[list[Value]] = []
        for axis, name in enumerate("yx"):
            before, after = window.pads[axis], window.pads[axis + 2]
            if not (before or after):
                found.append([Const(0, 1)] * self.taps[axis])
                continue
            bits = (image[axis] + before + after + window.spans[axis]).bit_length()
            moves = [*(getattr(loop, name) for loop in loops), 0]
            starts = [tap * window.dilations[axis] - before for tap in range(self.taps[axis])]
            places = [walk.place(moves, start, bits, name=f"{name}{_suffix(tap)}") for tap, start in enumerate(starts)]
            found.append([at >= image[axis] for at in places])  # what lies before the image, too
        rows, columns = found
        return {(y, x): rows[y] | columns[x] for y in range(len(rows)) for x in range(len(columns))}


def _suffix(*tap: int) -> str:
    """Suffix of the names of all taps but the first."""
    return "".join(f"_{each}" for each in tap) if any(tap) else ""
