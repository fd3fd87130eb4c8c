"""Proofs of the walks over matrices and maps in memory: each run equals a plain formula of addresses."""

from __future__ import annotations

from dataclasses import dataclass

from amaranth.hdl import Assert, Assume, Cover, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In

from systoliq.hw.dma.map_walk import MapWalk
from systoliq.hw.dma.runs import Walk, filler

from ..property import Bounded, Property, SeededBug
from .checkers import check_held

__all__ = ["PROPERTIES"]

_STEP, _PIXEL, _LINE, _IMAGE = 1, 1 << 2, 1 << 6, 1 << 10
"""Bytes from step to step at a tap, pixel to pixel, line to line and image to image. Addresses are sums of these, so
each kind of move uses its own digits, below the digits of the walk's start; the walk does not interpret addresses.
"""
_DIGITS = 14


@dataclass(frozen=True, kw_only=True)
class _Shape:
    """A walk's counts, (lines, columns) each: windows, taps, pixels that are there, and those moved by."""

    steps: int = 1
    images: int = 1
    out: tuple[int, int] = (1, 1)
    taps: tuple[int, int] = (1, 1)
    size: tuple[int, int] = (1, 1)
    origin: tuple[int, int] = (0, 0)
    strides: tuple[int, int] = (1, 1)
    dilations: tuple[int, int] = (1, 1)
    maps: bool = True

    @property
    def rounds(self) -> dict[str, int]:
        """Number of rounds of each part of `_WHICH`."""
        return {
            "image": self.images, "y": self.out[0], "x": self.out[1], "v": self.taps[0], "u": self.taps[1],
            "step": self.steps,
        }  # fmt: skip

    @property
    def rows(self) -> int:
        """All windows."""
        return self.images * self.out[0] * self.out[1]

    @property
    def all_steps(self) -> int:
        """Steps of a window."""
        return self.taps[0] * self.taps[1] * self.steps

    def groups(self, most: int) -> list[tuple[int, int, bool]]:
        """(first row, number of rows, whether it moves) of each group of at most `most` rows.

        A group moves if it has a run for each row at the first tap of a line only: its windows are in one line, and a
        tap is the next tap of the window before.
        """
        found = []
        for first in range(0, self.rows, most):
            size = min(most, self.rows - first)
            in_line = first // self.out[1] == (first + size - 1) // self.out[1]
            shares = self.maps and self.steps == 1 and self.strides[1] == self.dilations[1]
            found.append((first, size, in_line and shares))
        return found

    def runs(self, size: int, moves: bool) -> int:
        """Runs of a group of `size` rows."""
        return self.taps[0] * (size + self.taps[1] - 1) if moves else size * self.all_steps

    def all_runs(self, group: int | None) -> int:
        """Runs of all groups of at most `group` rows."""
        return sum(self.runs(size, moves) for _, size, moves in self.groups(group or self.rows))

    def plain(self) -> dict[str, int]:
        """Fields of `WalkSettings`; a matrix is a line of windows."""
        strides = {"row_stride": self.strides[1] * _PIXEL, "step_stride": _STEP}
        return strides | {"rows": self.rows, "steps": self.steps}

    def map(self) -> dict[str, int]:
        """Fields of `MapSettings`; all strides from where the walk stands."""
        line_back = (self.out[1] - 1) * self.strides[1] * _PIXEL
        tap_back = (self.steps - 1) * _STEP
        return {
            "line_stride": self.strides[0] * _LINE - line_back,
            "image_stride": _IMAGE - (self.out[0] - 1) * self.strides[0] * _LINE - line_back,
            "tap_stride": self.dilations[1] * _PIXEL - tap_back,
            "tap_line_stride": self.dilations[0] * _LINE - (self.taps[1] - 1) * self.dilations[1] * _PIXEL - tap_back,
            "out_height": self.out[0], "out_width": self.out[1], "height": self.size[0], "width": self.size[1],
            "origin_y": self.origin[0], "origin_x": self.origin[1], "taps_y": self.taps[0], "taps_x": self.taps[1],
            "stride_y": self.strides[0], "stride_x": self.strides[1],
            "dilation_y": self.dilations[0], "dilation_x": self.dilations[1],
        }  # fmt: skip


_FREE = data.StructLayout({"address": 3, "extent": 2, "last_extent": 2, "fill": 2})
"""Values that the walk moves without interpreting them, in a few bits."""
_WHICH = data.StructLayout(dict.fromkeys(_Shape().rounds, 3))
"""One run of a walk, that the solver chooses."""


class WalkHarness(wiring.Component):
    """Walks of two shapes in turn; the solver selects a run, which is checked against its formula.

    The number of runs before it follows from its group, step and row; at the end of a walk, all its runs were taken.
    Offers stay until taken; a `MapWalk` offers a run in each cycle from the first run on.
    """

    def __init__(self, *shapes: _Shape, group: int | None) -> None:
        self.shapes, self.group = shapes, group
        super().__init__({"start": In(1), "free": In(_FREE), "which": In(_WHICH), "ready": In(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        over_maps = any(shape.maps for shape in self.shapes) and self.group is not None
        dut = MapWalk(group=self.group or 1, kind="walk") if over_maps else Walk(group=self.group, kind="walk")
        m.submodules.dut = dut
        m.d.comb += [dut.start.eq(self.start), dut.o.ready.eq(self.ready)]
        check_held(m, dut.o.valid, dut.o.ready, Value.cast(dut.o.payload))
        free, which = Signal(_FREE), Signal(_WHICH)
        started, turn, taken, age = Signal(), Signal(), Signal(8), Signal(3)
        begins = self.start & ~dut.busy
        with m.If(begins):
            m.d.sync += [started.eq(1), turn.eq(~turn), taken.eq(0), age.eq(1)]
            m.d.sync += [free.eq(self.free), which.eq(self.which)]
        with m.Else():
            m.d.sync += [taken.eq(taken + (dut.o.valid & self.ready)), age.eq(age + ~age.all())]
        m.d.comb += [getattr(dut.settings, name).eq(getattr(self.free, name)) for name in ("extent", "last_extent")]
        m.d.comb += dut.settings.address.eq(self.free.address << _DIGITS)
        if isinstance(dut, MapWalk):
            m.d.comb += dut.map.fill.eq(self.free.fill)
            with m.If(dut.busy & (age >= dut.latency)):
                m.d.comb += Assert(dut.o.valid)
        for index, shape in enumerate(self.shapes):
            with m.If(turn == index):
                m.d.comb += [getattr(dut.settings, name).eq(value) for name, value in shape.plain().items()]
                if isinstance(dut, MapWalk):
                    m.d.comb += dut.maps.eq(shape.maps)
                    m.d.comb += [getattr(dut.map, name).eq(value) for name, value in shape.map().items()]
                with m.If(begins):
                    m.d.comb += [Assume(getattr(self.which, name) < count) for name, count in shape.rounds.items()]
            with m.If(started & (turn == 1 - index)):  # the walk that continues
                self._check(m, dut, shape, free, which, taken)
        m.d.comb += Assert(~dut.o.valid | started)
        return m

    def _check(
        self,
        m: Module,
        dut: Walk | MapWalk,
        shape: _Shape,
        free: data.View,
        which: data.View,
        taken: Signal,
    ) -> None:
        """The run that was chosen, where it is offered; and how many came when all are over."""
        y = which.y * shape.strides[0] + which.v * shape.dilations[0]
        x = which.x * shape.strides[1] + which.u * shape.dilations[1]
        pixel = y + shape.origin[0], x + shape.origin[1]
        there = (pixel[0] >= 0) & (pixel[0] < shape.size[0]) & (pixel[1] >= 0) & (pixel[1] < shape.size[1])
        address = (free.address << _DIGITS) + which.image * _IMAGE + y * _LINE + x * _PIXEL + which.step * _STEP
        row = (which.image * shape.out[0] + which.y) * shape.out[1] + which.x
        step = (which.v * shape.taps[1] + which.u) * shape.steps + which.step
        before, size, end, moved, exists = Signal(10), Signal(8), Signal(8), Signal(), Signal()  # of the chosen run
        total = 0
        for first, rows, moves in shape.groups(self.group or shape.rows):
            with m.If((row >= first) & (row < first + rows)):
                m.d.comb += [size.eq(rows), end.eq(first + rows - 1), exists.eq(1)]
                m.d.comb += before.eq(total + step * size + row - first)
                if moves:
                    m.d.comb += before.eq(total + which.v * (size + shape.taps[1] - 1) + row - first + which.u)
                    m.d.comb += [moved.eq(which.u != 0), exists.eq((which.u == 0) | (row == end))]
            total += shape.runs(rows, moves)
        run, here = dut.o.payload, dut.o.valid & exists & (taken == before)
        with m.If(here):
            m.d.comb += [
                Assert(run.extent == Mux(which.step == shape.steps - 1, free.last_extent, free.extent)),
                Assert(run.mark.step_last == (row == end)),
                Assert(run.mark.moved == moved),
                Assert(run.mark.last == ((row == shape.rows - 1) & (step == shape.all_steps - 1))),
                Assert(run.fill == (~there if shape.maps else 0)),
                Assert(Mux(run.fill, filler(run.address) == free.fill, run.address == address[:32])),
            ]
        m.d.comb += [Assert(~dut.o.valid | (taken < total)), Assert(dut.busy | (taken == total))]
        m.d.comb += Cover(here & run.mark.last)


def _walk(name: str, *shapes: _Shape, group: int | None, bug: SeededBug, quick: bool = False) -> Property:
    cycles = sum(shape.all_runs(group) + MapWalk.latency + 2 for shape in shapes)
    return Property(
        name=f"walk over {name}",
        claim="every run is where its formula says, in its order, and all come; pixels that are not there fill",
        harness=lambda: WalkHarness(*shapes, group=group),
        method=Bounded(cycles=cycles),
        bug=bug,
        quick=quick,
    )


def _bug(module: str, old: str, new: str) -> SeededBug:
    return SeededBug(module=f"dma.{module}", old=old, new=new)


_MATRIX = (_Shape(steps=2, out=(1, 3), maps=False), _Shape(steps=1, out=(1, 2), maps=False))
_PADDED = _Shape(images=2, out=(2, 1), taps=(1, 2), size=(2, 2), origin=(-1, -1), strides=(2, 1))
_DILATED = _Shape(steps=2, out=(1, 2), taps=(2, 1), size=(3, 3), origin=(0, -1), dilations=(2, 1))

_SIDE_BY_SIDE = _Shape(out=(2, 3), taps=(1, 2), size=(2, 3), origin=(0, -1))

_Y = _bug("map_walk", "Mux(image_ends, of_map.origin_y, place.y + of_map.stride_y)", "place.y + of_map.stride_y")

PROPERTIES = (
    _walk("a matrix, groups of 2 rows", *_MATRIX, group=2, quick=True,
          bug=_bug("runs", "next_group.eq(row_end)", "next_group.eq(step_end)")),
    _walk("a matrix, rows in one group", *_MATRIX, group=None,
          bug=_bug("runs", "step_last.eq(step == 1)", "step_last.eq(step == 2)")),
    _walk("images, then a matrix, groups of 3 rows", _PADDED, _MATRIX[1], group=3, bug=_Y),
    _walk("lines of taps, then a matrix, groups of 2 rows", _DILATED, _MATRIX[1], group=2,
          bug=_bug("map_walk", "Mux(taps_end, of_map.tap_line_stride, of_map.tap_stride)", "of_map.tap_stride")),
    _walk("windows side by side, then a matrix, groups of 2 rows", _SIDE_BY_SIDE, _MATRIX[1], group=2,
          bug=_bug("map_walk", "kept.shares & ~crosses", "kept.shares")),
)  # fmt: skip
