"""Proofs of the blocks between the stages of networks: fork, FIFO, gearbox; and of the window buffer's pixels."""

from __future__ import annotations

from amaranth.hdl import Assert, Assume, Cover, Module, Mux, Signal, Value, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from systoliq.golden.network import Window
from systoliq.hw.counter import count
from systoliq.hw.fifo import Fifo
from systoliq.hw.network.fork import Fork
from systoliq.hw.network.gearbox import Gearbox
from systoliq.hw.network.image import ImageWindow
from systoliq.hw.network.window_buffer import WindowBuffer

from ..property import Bounded, Property, SeededBug, Unbounded
from .checkers import FifoHarness, check_held

__all__ = ["PROPERTIES"]

_BITS = 2  # of a payload: the blocks move payloads and never look into them


class ForkHarness(wiring.Component):
    """A fork whose source holds its offers, and a flag per way: whether the way has taken the current beat."""

    def __init__(self, ways: int) -> None:
        self.ways = ways
        super().__init__({"valid": In(1), "payload": In(_BITS), "ready": In(ways)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.dut = dut = Fork(unsigned(_BITS), ways=self.ways)
        waiting, offered = Signal(), Signal(_BITS)
        m.d.comb += [dut.i.valid.eq(self.valid), dut.i.payload.eq(self.payload)]
        m.d.sync += [waiting.eq(self.valid & ~dut.i.ready), offered.eq(self.payload)]
        m.d.comb += Assume(~waiting | (self.valid & (self.payload == offered)))
        has, takes = Signal(self.ways), Signal(self.ways)
        moves_on = self.valid & dut.i.ready
        for way in range(self.ways):
            out = getattr(dut, f"o_{way}")
            m.d.comb += [
                out.ready.eq(self.ready[way]),
                takes[way].eq(out.valid & out.ready),
                Assert(out.valid == (self.valid & ~has[way])),
                Assert(out.payload == self.payload),
            ]
            check_held(m, out.valid, out.ready, out.payload)
        m.d.comb += [Assert(moves_on == (self.valid & (has | takes).all())), Cover(moves_on & has.any())]
        m.d.sync += has.eq(Mux(moves_on, 0, has | takes))
        return m


class GearboxHarness(wiring.Component):
    """A gearbox against a count of the elements inside, and one element that the solver marks."""

    def __init__(self, of: int, to: int) -> None:
        self.of, self.to = of, to
        most = max(of, to)
        super().__init__(
            {"valid": In(1), "data": In(of), "last": In(1), "ready": In(1), "mark": In(1), "which": In(range(most))}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        of, to, most = self.of, self.to, max(self.of, self.to)
        m.submodules.dut = dut = Gearbox(unsigned(1), of=of, to=to)
        m.d.comb += [
            dut.i.valid.eq(self.valid),
            Value.cast(dut.i.payload.data).eq(self.data),
            dut.i.payload.last.eq(self.last),
            dut.o.ready.eq(self.ready),
        ]
        check_held(m, dut.o.valid, dut.o.ready, Value.cast(dut.o.payload))
        put, take = self.valid & dut.i.ready, dut.o.valid & self.ready
        inside, rest = Signal(range(most + 1)), Signal(range(most + 1))
        m.d.comb += rest.eq(inside - Mux(take, to, 0))
        m.d.sync += inside.eq(rest + Mux(put, of, 0))
        m.d.comb += [Assert(dut.o.valid == (inside >= to)), Assert(dut.i.ready == (rest + of <= most))]
        marked, before = Signal(), Signal(range(2 * most))
        kept, ends, last = Signal(), Signal(), Signal()  # of the marked element: its beat's end, and that beat's last
        with m.If(self.mark & put & ~marked & (self.which < of)):
            m.d.sync += [
                marked.eq(1),
                before.eq(rest + self.which),
                kept.eq(self.data.bit_select(self.which, 1)),
                ends.eq(self.which == of - 1),
                last.eq(self.last),
            ]
        with m.Elif(marked & take):
            m.d.sync += [marked.eq(before >= to), before.eq(before - to)]
        with m.If(marked & dut.o.valid & (before < to)):
            m.d.comb += Assert(Value.cast(dut.o.payload.data).bit_select(before[: most.bit_length()], 1) == kept)
            with m.If(before == to - 1):
                m.d.comb += Assert(dut.o.payload.last == (last & ends))
        m.d.comb += [
            Cover(marked & take & (before == to - 1) & last & ends),
            Cover(marked & (before >= to) | (to >= of)),
        ]
        return m


class WindowHarness(wiring.Component):
    """The window buffer against counts of the pixels that came and of those that leave, and one that the solver marks.

    What leaves is padding where it lies outside of the image; else it came before, and the marked one is itself, as
    often as windows hold it. Where no pixel is taken for some cycles one is offered.
    """

    def __init__(self, windows: ImageWindow, times: int) -> None:
        self.windows = windows
        self.times = times
        super().__init__({"valid": In(1), "pixel": In(1), "ready": In(1), "mark": In(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        windows = self.windows
        words = windows.pixels * windows.channels
        dut = WindowBuffer(windows, unsigned(1), word=1, padding=1, cells="portable", kind="w", times=self.times)
        m.submodules.dut = dut
        m.d.comb += [
            dut.i.valid.eq(self.valid),
            Value.cast(dut.i.payload.data).eq(self.pixel),
            dut.o.ready.eq(self.ready),
        ]
        check_held(m, dut.o.valid, dut.o.ready, Value.cast(dut.o.payload))
        put, take = self.valid & dut.i.ready, dut.o.valid & self.ready
        came = count(m, words, when=put, name="came")
        index, inside, ends = self._place(m, take)
        ahead = Signal(4)  # images whose last pixel came, and whose last beat has not left
        m.d.sync += ahead.eq(ahead + (put & came.last) - (take & ends))
        data = Value.cast(dut.o.payload.data)
        with m.If(dut.o.valid):
            m.d.comb += [Assert(dut.o.payload.last == ends), Assert(inside | (data == 1))]
            m.d.comb += Assert(~inside | (ahead != 0) | (index < came.value))
        marked, kept, place, before = Signal(), Signal(), Signal(range(words)), Signal.like(ahead)
        with m.If(self.mark & put & ~marked):
            m.d.sync += [marked.eq(1), kept.eq(self.pixel), place.eq(came.value), before.eq(ahead - (take & ends))]
        with m.Elif(marked & take & ends):
            m.d.sync += [marked.eq(before != 0), before.eq(before - 1)]
        with m.If(marked & (before == 0) & dut.o.valid & inside & (index == place)):
            m.d.comb += Assert(data == kept)
        idle = Signal(range(_IDLE + 2))
        m.d.sync += idle.eq(Mux(dut.i.ready | dut.o.valid, 0, idle + 1))
        m.d.comb += [Assert(idle <= _IDLE), Cover(marked & take & ends & (before == 0)), Cover(~dut.i.ready & take)]
        return m

    def _place(self, m: Module, take: Value) -> tuple[Value, Value, Value]:
        """The beat that leaves: index of its word in the image, whether it has one, whether it is the image's last."""
        windows, window = self.windows, self.windows.window
        rounds = {"channel": windows.channels, "column": window.kernel[1], "row": window.kernel[0], "time": self.times}
        inner = ("channel", "column", "row", "time") if windows.groups == 1 else ("column", "row", "time", "channel")
        sizes = [*((name, rounds[name]) for name in inner), ("across", windows.out[1]), ("down", windows.out[0])]
        at, ends = {}, Value.cast(1)
        for name, size in sizes:
            counted = count(m, size, when=take & ends, name=name)
            ends, at[name] = ends & counted.last, counted.value
        y = at["down"] * window.strides[0] + at["row"] * window.dilations[0] - window.pads[0]
        x = at["across"] * window.strides[1] + at["column"] * window.dilations[1] - window.pads[1]
        inside = (y >= 0) & (y < windows.image[0]) & (x >= 0) & (x < windows.image[1])
        index = ((y * windows.image[1] + x) * windows.channels + at["channel"])[: windows.pixels.bit_length() + 4]
        return index, inside, ends


_WINDOW_CYCLES, _LONG_WINDOW_CYCLES = 24, 28
_IDLE = 8  # cycles in which the window buffer neither takes nor offers


def _fork(ways: int) -> Property:
    return Property(
        name=f"network fork, {ways} ways",
        claim="each way gets each beat once, whenever it likes, and its offer stays; the next comes when all have it",
        harness=lambda: ForkHarness(ways),
        method=Unbounded(cover_cycles=6),
        bug=SeededBug(module="network.fork", old="self.i.ready.eq(took.all())", new="self.i.ready.eq(took.any())"),
        quick=ways == 2,
    )


def _fifo(depth: int) -> Property:
    return Property(
        name=f"network FIFO of {depth}",
        claim="what comes leaves once, in order; there is room for its depth, no beat overwrites another, none waits",
        harness=lambda: FifoHarness(lambda: Fifo(unsigned(_BITS), depth=depth, cells="portable")),
        method=Unbounded(cover_cycles=2 * depth + 6),
        bug=SeededBug(module="fifo", old='self.depth, name="room"', new='self.depth + 1, name="room"'),
        quick=depth == 2,
    )


def _gearbox(of: int, to: int, bug: SeededBug) -> Property:
    return Property(
        name=f"network gearbox, {of} to {to}",
        claim="every element leaves once, in its order, last with a beat's end; neither side waits without need",
        harness=lambda: GearboxHarness(of, to),
        method=Unbounded(cover_cycles=12),
        bug=bug,
        quick=max(of, to) == 2,
    )


def _window(windows: ImageWindow, bug: SeededBug, *, times: int = 1, cycles: int = _WINDOW_CYCLES) -> Property:
    kernel, strides, pads = windows.window.kernel, windows.window.strides, windows.window.pads
    shape = f"{windows.image[0]} x {windows.image[1]} x {windows.channels}"
    words = f"{kernel[0]} x {kernel[1]} windows on {shape}, strides {strides[0]} and {strides[1]}, pads {pads}"
    return Property(
        name=f"network window buffer, {words}"
        + ", channel by channel" * (windows.groups > 1)
        + f", {times} times" * (times > 1),
        claim="each beat is its window's pixel, that came and was not overwritten, or padding; it never stands still",
        harness=lambda: WindowHarness(windows, times),
        method=Bounded(cycles=cycles),
        bug=bug,
    )


def _windows(rows: int, columns: int, channels: int = 1, groups: int = 1, **window: tuple[int, ...]) -> ImageWindow:
    return ImageWindow(window=Window(**window), image=(rows, columns), channels=channels, groups=groups)  # type: ignore[arg-type]


_SPLIT = SeededBug(
    module="network.gearbox",
    old="self.i.ready.eq(~there | (self.o.ready & part.last))",
    new="self.i.ready.eq(~there | self.o.ready)",
)
_COLLECT = SeededBug(
    module="network.gearbox",
    old="held[index * len(given) :][: len(given)].eq(given)",
    new="held[: len(given)].eq(given)",
)
_ROOM = SeededBug(module="network.window_buffer", old="(came | ~open_) & (room != 0)", new="(came | ~open_)")
_EARLY = SeededBug(module="network.window_buffer", old="~surplus[-1]", new="(surplus >= -1)")

PROPERTIES = (
    _fork(2),
    _fork(3),
    _fifo(2),
    _fifo(4),
    _gearbox(2, 1, _SPLIT),
    _gearbox(6, 2, _SPLIT),
    _gearbox(1, 2, _COLLECT),
    _gearbox(2, 6, _COLLECT),
    _window(_windows(2, 1, kernel=(1, 1)), _EARLY),
    _window(_windows(3, 1, kernel=(2, 1)), _EARLY),
    _window(_windows(2, 2, kernel=(2, 2), pads=(1, 0, 0, 1)), _ROOM),
    _window(_windows(3, 1, kernel=(1, 1), strides=(2, 1)), _EARLY, cycles=_LONG_WINDOW_CYCLES),
    _window(_windows(2, 1, channels=2, groups=2, kernel=(2, 1)), _EARLY),
    _window(_windows(2, 1, kernel=(2, 1)), _EARLY, times=2),
)
