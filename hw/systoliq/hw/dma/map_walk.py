"""The walk over a matrix, or over a map of pixels whose windows are the rows of a matrix: im2col by address."""

from __future__ import annotations

from amaranth.hdl import Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ..hierarchy import place as placed
from ..skid_buffer import SkidBuffer
from .bus import ADDRESS_BITS
from .runs import Run, WalkSettings, filling

__all__ = ["COORDINATE_BITS", "COUNTS", "MapSettings", "MapWalk"]

COORDINATE_BITS = 16

MapSettings = data.StructLayout(
    {
        "line_stride": ADDRESS_BITS,
        "image_stride": ADDRESS_BITS,
        "tap_stride": ADDRESS_BITS,
        "tap_line_stride": ADDRESS_BITS,
        "out_width": COORDINATE_BITS,
        "out_height": COORDINATE_BITS,
        "width": COORDINATE_BITS,
        "height": COORDINATE_BITS,
        "origin_x": COORDINATE_BITS,
        "origin_y": COORDINATE_BITS,
        "taps_x": 8,
        "taps_y": 8,
        "fill": 8,
        "stride_x": 8,
        "stride_y": 8,
        "dilation_x": 8,
        "dilation_y": 8,
    }
)
"""Settings of a walk over maps, in addition to `WalkSettings`.

A row is a place of the window: ``out_width`` of them make a line, ``out_height`` lines an image. A tap is a pixel of
the window, ``taps_x`` by ``taps_y`` of them; each tap has ``steps`` steps. Places and taps move by a stride and a
dilation in pixels of the map, which has ``width`` by ``height`` pixels. ``origin_x`` and ``origin_y`` are the
coordinates of the first tap in the first place, modulo 2**16. ``fill`` is the byte of pixels outside the map. In bytes,
modulo 2**32: ``line_stride`` and ``image_stride`` from a line's or image's last place to the first of the next,
``tap_stride`` from the last step at a tap to the first at the next tap, and ``tap_line_stride`` to the first at the
next line of taps.
"""


_Place = data.StructLayout(
    {
        "rows": 16,
        "rows_last": 1,
        "across": COORDINATE_BITS,
        "across_last": 1,
        "down": COORDINATE_BITS,
        "down_last": 1,
        "address": ADDRESS_BITS,
        "stride": ADDRESS_BITS,
        "x": COORDINATE_BITS,
        "y": COORDINATE_BITS,
    }
)
"""A row: how many are left of all, of its line and how many lines of its image, itself among them, and whether it is
the last; the pixel of its first tap; and its address less the ``stride`` from the row before: so a stride is chosen in
one cycle, and added in the next."""

_Step = data.StructLayout(
    {
        "steps": 16,
        "steps_last": 1,
        "across": 8,
        "across_last": 1,
        "down": 8,
        "down_last": 1,
        "address": ADDRESS_BITS,
        "x": COORDINATE_BITS,
        "y": COORDINATE_BITS,
    }
)
"""A step: the number of steps left at its tap, of taps left in its line, and of lines; its offset from a row's address
and pixel.
"""

_Placed = data.StructLayout({"run": Run, "offset": ADDRESS_BITS, "x": COORDINATE_BITS, "y": COORDINATE_BITS})
"""A run at its row's address, the ``offset`` of its step, and its pixel, of which is not known whether the map has it.
"""

COUNTS = ("rows", "steps", "out_width", "out_height", "taps_x", "taps_y")
"""Settings that must be at least 1."""


class MapWalk(wiring.Component):
    """Runs of the matrix A: for each group of ``group`` rows, for each step, for each row of the group, one run.

    If ``maps`` is 0, they are the runs of `Walk`. If ``maps`` is 1, a row is a window of a map (see `MapSettings`), and
    its steps are the steps of one tap after the other, line by line; a run at a pixel outside the map fills (see
    `Run`).

    Windows side by side have pixels in common: where windows and taps move by the same number of pixels, a tap of one
    window is the tap before of the next one. If a tap is one step and the group's windows are in one line, only the
    first tap of each line of taps has a run for each row. The others have the last row's, ``moved`` (see `Mark`).

    ``start``, while ``busy`` is 0, takes the settings, which must be steady in that cycle only. The first run is
    offered ``latency`` cycles later, then a run a cycle; ``busy`` is 1 from the cycle after ``start`` until the last
    one was taken.
    """

    latency = 5

    def __init__(self, *, group: int, kind: str) -> None:
        self.group = group
        self.kind = kind
        super().__init__(
            {
                "start": In(1),
                "settings": In(WalkSettings),
                "map": In(MapSettings),
                "maps": In(1),
                "busy": Out(1),
                "o": Out(stream.Signature(Run)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        kept = _Kept()
        split, begin, going, stays = (Signal(name=name) for name in ("split", "begin", "going", "stays"))
        goes = Signal()  # a run is taken behind: decided a cycle ahead, since it moves all registers of the loops
        may = Signal()  # one could be in the next cycle
        behind = SkidBuffer(_Placed, kind=f"{self.kind}_skid_buffer")  # so that the loops stop at their own register
        m.submodules.behind = placed(behind, platform)
        m.d.comb += [
            self.busy.eq(split | begin | going | behind.o.valid | self.o.valid),
            behind.i.valid.eq(going),
            may.eq(~behind.o.valid | behind.o.ready | (~going & behind.i.ready)),
        ]
        m.d.sync += [
            split.eq(0),
            begin.eq(split),
            *(kept.single[name].eq(kept.acts(name) & (count == 1)) for name, count in kept.counts.items()),
        ]
        with m.If(self.start & ~self.busy):
            m.d.sync += [split.eq(1), kept.plain.eq(self.settings), kept.map.eq(self.map), kept.maps.eq(self.maps)]
        place = Signal(_Place, reset_less=True)
        step = Signal(_Step, reset_less=True)
        row_last = Signal()
        window_last = Signal()
        group_last = Signal()  # a run ends its group: of four registers, which wait for no one
        m.d.comb += group_last.eq(row_last & window_last)
        moved = self._rows(
            m, kept, place, begin=begin, goes=goes, row_last=row_last, group_last=group_last, taps_end=step.across_last
        )
        self._steps(m, kept, step, begin=begin, goes=goes & row_last, ends=goes & group_last, window_last=window_last)
        m.d.comb += stays.eq(begin | (going & ~(goes & group_last & place.rows_last)))
        m.d.sync += [going.eq(stays), goes.eq(stays & may)]
        m.d.sync += kept.shares.eq(
            kept.maps
            & kept.single["steps"]
            & (kept.map.stride_x == kept.map.dilation_x)
            & (kept.plain.row_stride == kept.map.tap_stride)
        )
        run, offset, x, y = (getattr(behind.i.payload, name) for name in _Placed.members)
        m.d.comb += [
            *(x.eq(place.x + step.x), y.eq(place.y + step.y)),
            *(run.address.eq(place.address + place.stride), offset.eq(step.address)),
            run.extent.eq(Mux(step.steps_last, kept.plain.last_extent, kept.plain.extent)),
            *(run.mark.step_last.eq(row_last), run.mark.last.eq(group_last & place.rows_last)),
            run.mark.moved.eq(moved),
        ]
        self._offer(m, kept, behind.o)
        return m

    def _rows(
        self,
        m: Module,
        kept: _Kept,
        place: data.View,
        *,
        begin: Value,
        goes: Value,
        row_last: Signal,
        group_last: Value,
        taps_end: Value,
    ) -> Signal:
        """Rows of a group, once for each step, or only the last one, where the signal returned is 1; ``first`` is the
        group's first one.
        """
        first = Signal(_Place, reset_less=True)
        after = Signal(_Place)
        slot = Signal(range(max(self.group, 2)))
        ends = Signal(name="row_ends", reset_less=True)  # the group's last row, or the last of all
        of_map, single = kept.map, kept.single
        line_ends, image_ends = place.across_last, place.across_last & place.down_last
        m.d.comb += [
            row_last.eq(ends),
            after.eq(place),
            *(after.rows.eq(place.rows - 1), after.rows_last.eq(place.rows == 2)),
            after.x.eq(Mux(line_ends, of_map.origin_x, place.x + of_map.stride_x)),
            after.address.eq(place.address + place.stride),
            after.stride.eq(
                Mux(image_ends, of_map.image_stride, Mux(line_ends, of_map.line_stride, kept.plain.row_stride))
            ),
        ]
        across = {"count": of_map.out_width, "single": single["out_width"], "acts": kept.maps}
        _count(m, after, "across", place, ends=line_ends, **across)
        with m.If(line_ends):
            down = {"count": of_map.out_height, "single": single["out_height"]}
            _count(m, after, "down", place, ends=image_ends, **down)
            m.d.comb += after.y.eq(Mux(image_ends, of_map.origin_y, place.y + of_map.stride_y))
        for each in (place, first):
            with m.If(begin):
                m.d.sync += [
                    *(each.rows.eq(kept.plain.rows), each.rows_last.eq(single["rows"])),
                    *(each.across.eq(of_map.out_width), each.across_last.eq(single["out_width"])),
                    *(each.down.eq(of_map.out_height), each.down_last.eq(single["out_height"])),
                    *(each.address.eq(kept.plain.address), each.stride.eq(0)),
                    *(each.x.eq(of_map.origin_x), each.y.eq(of_map.origin_y)),
                ]
        again = row_last & ~group_last  # the group's rows, at the next step
        crosses = Signal(reset_less=True)  # the group has rows of two lines
        moved = Signal(reset_less=True)
        stays = Signal(name="row_stays")
        m.d.comb += stays.eq(row_last & kept.shares & ~crosses & ~taps_end)  # a window ends with a line of taps
        with m.If(goes):
            m.d.sync += [
                slot.eq(Mux(row_last, 0, slot + 1)),
                crosses.eq(~group_last & (crosses | (line_ends & ~row_last))),
                moved.eq(stays),
            ]
            with m.If(~stays):
                m.d.sync += [
                    place.eq(Mux(again, first, after)),
                    ends.eq(
                        Mux(row_last, self.group == 1, slot == self.group - 2)
                        | Mux(again, first.rows_last, after.rows_last)
                    ),
                ]
            with m.If(group_last):
                m.d.sync += first.eq(after)
        with m.If(begin):
            m.d.sync += [slot.eq(0), ends.eq(single["rows"] | (self.group == 1)), crosses.eq(0), moved.eq(0)]
        return moved

    def _steps(
        self, m: Module, kept: _Kept, step: data.View, *, begin: Value, goes: Value, ends: Value, window_last: Signal
    ) -> None:
        """Steps of a window; a plain one has a single tap."""
        plain, of_map, single = kept.plain, kept.map, kept.single
        after = Signal(_Step)
        taps_end, window_ends = step.across_last, step.across_last & step.down_last
        m.d.comb += window_last.eq(step.steps_last & window_ends)
        m.d.comb += [
            after.eq(step),
            after.address.eq(
                step.address
                + Mux(~step.steps_last, plain.step_stride, Mux(taps_end, of_map.tap_line_stride, of_map.tap_stride))
            ),
        ]
        _count(m, after, "steps", step, ends=step.steps_last, count=plain.steps, single=single["steps"])
        with m.If(step.steps_last):
            _count(m, after, "across", step, ends=taps_end, count=of_map.taps_x, single=single["taps_x"])
            m.d.comb += after.x.eq(Mux(taps_end, 0, step.x + of_map.dilation_x))
            with m.If(taps_end):
                _count(m, after, "down", step, ends=window_ends, count=of_map.taps_y, single=single["taps_y"])
                m.d.comb += after.y.eq(step.y + of_map.dilation_y)
        with m.If(goes):
            m.d.sync += step.eq(after)
        with m.If(begin | ends):
            m.d.sync += [
                *(step.steps.eq(plain.steps), step.steps_last.eq(single["steps"])),
                *(step.across.eq(of_map.taps_x), step.across_last.eq(~kept.maps | single["taps_x"])),
                *(step.down.eq(of_map.taps_y), step.down_last.eq(~kept.maps | single["taps_y"])),
                *(step.address.eq(0), step.x.eq(0), step.y.eq(0)),
            ]

    def _offer(self, m: Module, kept: _Kept, i: stream.Interface) -> None:
        """Check whether a run's pixel is inside the map, a cycle after its place is known."""
        offers = Signal()
        offered = Signal(Run, name="offered", reset_less=True)
        m.d.comb += [i.ready.eq(~offers | self.o.ready), self.o.valid.eq(offers), self.o.payload.eq(offered)]
        with m.If(i.ready):
            m.d.sync += [
                offers.eq(i.valid),
                offered.eq(i.payload.run),
                offered.address.eq(i.payload.run.address + i.payload.offset),
                offered.fill.eq(kept.maps & ((i.payload.x >= kept.map.width) | (i.payload.y >= kept.map.height))),
            ]
        with m.If(offered.fill):
            m.d.comb += self.o.payload.address.eq(filling(kept.map.fill))


class _Kept:
    """The settings of the current walk; ``single`` has a bit for each count that is 1, from their second cycle on.
    ``shares``, a cycle later: windows have pixels in common that are read once.
    """

    def __init__(self) -> None:
        self.plain = Signal(WalkSettings, name="plain", reset_less=True)
        self.map = Signal(MapSettings, name="map", reset_less=True)
        self.maps = Signal(name="over_maps", reset_less=True)
        self.shares = Signal(name="shares", reset_less=True)
        self.single = {name: Signal(name=f"single_{name}", reset_less=True) for name in COUNTS}

    @property
    def counts(self) -> dict[str, Value]:
        """All counts by name."""
        return {name: getattr(self.plain if name in ("rows", "steps") else self.map, name) for name in COUNTS}

    def acts(self, name: str) -> Value:
        """True if the end of the count ``name`` has an effect: without a map, no line of windows ends."""
        return self.maps if name == "out_width" else Const(1, 1)


def _count(
    m: Module,
    after: data.View,
    name: str,
    now: data.View,
    *,
    ends: Value,
    count: Value,
    single: Value,
    acts: Value | None = None,
) -> None:
    """One less is left ``after``, or all of ``count``, which ``single`` says is 1, where ``now`` was the last one; that
    there is none left is said where it ``acts``.
    """
    left = getattr(now, name)
    m.d.comb += [
        getattr(after, name).eq(Mux(ends, count, left - 1)),
        getattr(after, f"{name}_last").eq(Mux(ends, single, (left == 2) & (1 if acts is None else acts))),
    ]
