"""Window buffer: takes the pixels of images in raster order and gives those of each window, padding among them."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Module, Mux, Shape, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ..block_ram import BlockRam
from ..delay import delay
from ..hierarchy import place
from ..result_buffer import y_beat
from ..way_out import way_out
from .image import ImageWindow, Loop
from .walk import Walk

__all__ = ["WindowBuffer"]

_LAG = 5  # cycles from a line that is freed to the row of windows that waits for the one in its place, less its words


class WindowBuffer(wiring.Component):
    """Lines of images in a memory, as many as ``windows`` needs and the next ones to come.

    ``i`` gives images pixel by pixel, ``word`` channels a beat (a divisor of a group's); ``last`` is not looked at.
    ``o`` gives the windows, one output pixel after the other, in beats of ``word`` elements: group after group of
    channels, each pixel by pixel. ``padding`` stands for what is outside of the image. ``last`` marks an image's last
    beat.

    A row of windows begins when all lines that it needs have come, and two cycles after the one before it. While lines
    come in time a beat leaves each cycle, without a gap between windows, rows of two beats or more, or images.
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
    ) -> None:
        if windows.channels // windows.groups % word:
            group = " of a group" if windows.groups > 1 else ""
            raise ValueError(f"word must divide the {windows.channels // windows.groups} channels{group}, not {word!r}")
        self.windows = windows
        self.padding = padding
        self.kind = kind
        self.words = windows.channels // word  # of a pixel
        self._line = windows.image[1] * self.words
        self.ram = BlockRam(shape.width * word, depth=self.depth_of(windows, word), cells=cells)
        beat = y_beat(shape, word)
        super().__init__({"i": In(stream.Signature(beat)), "o": Out(stream.Signature(beat))})

    @staticmethod
    def depth_of(windows: ImageWindow, word: int) -> int:
        """Words of the memory, of so many channels each: a power of two."""
        line = windows.image[1] * (windows.channels // word)
        row = windows.out[1] * windows.elements // word  # beats
        late = row < max(windows.lines_needed()) * line + _LAG
        lines = windows.lines + (-(-_LAG // line) if late else 0)
        return 1 << max(lines * line - 1, 1).bit_length()

    @property
    def lines(self) -> int:
        """Lines that the memory has room for."""
        return self.ram.depth // self._line

    @property
    def beats(self) -> int:
        """Beats of one window."""
        return self.windows.elements // len(self.i.payload.data)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        windows, ram = self.windows, self.ram
        m.submodules.ram = place(ram, platform)
        freed = Signal(range(max(windows.lines_freed()) + 1))
        came = delay(m, self._take(m, freed), 1, name="came", reset_less=False)

        granted, begins = Signal(), Signal()
        self._grant(m, granted, came, begins)
        reading = Signal()
        out = way_out(m, available=reading, ready=self.o.ready, latency=ram.latency)
        loops = windows.loops(self.words)
        walk = Walk(m, [loop.count for loop in loops], step=out.fetch, name="round")
        row_ends, image_ends = walk.last[-2], walk.last[-1]
        m.d.comb += begins.eq(granted & (~reading | (out.fetch & row_ends)))
        with m.If(begins):
            m.d.sync += reading.eq(1)
        with m.Elif(out.fetch & row_ends):
            m.d.sync += reading.eq(0)
        freed_now = self._of_row(m, walk.counts[-1].value, windows.lines_freed(), name="freed_now")
        m.d.sync += freed.eq(Mux(out.fetch & row_ends, freed_now, 0))

        top, left, *_ = windows.window.pads
        start = -(top * windows.image[1] + left) * self.words
        address = walk.place(
            [*(loop.words for loop in loops), windows.pixels * self.words], start, len(ram.read_address), name="address"
        )
        flags = Cat(image_ends, self._outside(m, walk, loops))
        for step in range(ram.latency):  # with the word, step by step
            now = Signal.like(flags, name=f"flags_{step + 1}", reset_less=True)
            with m.If((out.fetch, out.show)[step]):
                m.d.sync += now.eq(flags)
            flags = now
        m.d.comb += [
            ram.read.eq(out.fetch),
            ram.read_address.eq(address),
            ram.show.eq(out.show),
            self.o.valid.eq(out.valid),
            self.o.payload.last.eq(flags[0]),
        ]
        element = self.o.payload.data.shape().elem_shape
        for index in range(len(self.o.payload.data)):
            stored = ram.read_data[index * element.width : (index + 1) * element.width]
            m.d.comb += Value.cast(self.o.payload.data[index]).eq(Mux(flags[1], self.padding, stored))
        return m

    def _take(self, m: Module, freed: Value) -> Value:
        """Words into the memory, where there is room for their line; whether one that ends a line came."""
        ram = self.ram
        # Lines, but for the one that is written. Those that strides leap over are free before they come.
        room = Signal(range(self.lines + max(self.windows.lines_freed()) + 1), init=self.lines - 1)
        open_ = Signal(init=1)
        ends = Walk(m, [self._line], step=ram.write, name="taken").last[0]
        newest = Signal(range(ram.depth))
        m.d.comb += [
            self.i.ready.eq(open_),
            ram.write.eq(self.i.valid & open_),
            ram.write_address.eq(newest),
            ram.write_data.eq(Value.cast(self.i.payload.data)),
        ]
        with m.If(ram.write):
            m.d.sync += newest.eq(newest + 1)
        opens = Signal()
        came = ram.write & ends
        m.d.comb += opens.eq((came | ~open_) & (room != 0))
        m.d.sync += room.eq(room + freed - opens)
        with m.If(opens):
            m.d.sync += open_.eq(1)
        with m.Elif(came):
            m.d.sync += open_.eq(0)
        return came

    def _grant(self, m: Module, granted: Signal, came: Value, begins: Value) -> None:
        """``granted``: the lines that the next row of windows needs have come. It ``begins``: then comes the next."""
        needed = self.windows.lines_needed()
        row = Signal(range(len(needed)))
        complete = Signal(range(self.lines + 1))
        wanted = self._of_row(m, row, needed, name="wanted")
        enough = Signal()
        m.d.comb += enough.eq(~granted & (complete >= wanted))
        m.d.sync += complete.eq(complete + came - Mux(enough, wanted, 0))
        with m.If(enough):
            m.d.sync += [granted.eq(1), row.eq(Mux(row == len(needed) - 1, 0, row + 1))]
        with m.Elif(begins):
            m.d.sync += granted.eq(0)

    def _of_row(self, m: Module, row: Value, numbers: list[int], *, name: str) -> Signal:
        """``numbers[row]``, of which most are the same."""
        usual = max(set(numbers), key=numbers.count)
        number = Signal(range(max(numbers) + 1), name=name)
        m.d.comb += number.eq(usual)
        with m.Switch(row):
            for index, each in enumerate(numbers):
                if each != usual:
                    with m.Case(index):
                        m.d.comb += number.eq(each)
        return number

    def _outside(self, m: Module, walk: Walk, loops: Sequence[Loop]) -> Value:
        """Whether the pixel at hand is padding."""
        window, image = self.windows.window, self.windows.image
        found = []
        for axis, name in enumerate("yx"):
            before, after = window.pads[axis], window.pads[axis + 2]
            if before or after:
                bits = (image[axis] + before + after + window.spans[axis]).bit_length()
                at = walk.place([*(getattr(loop, name) for loop in loops), 0], -before, bits, name=name)
                found.append(at >= image[axis])  # what lies before the image, too
        return Cat(found).any() if found else Const(0, 1)
