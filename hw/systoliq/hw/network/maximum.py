"""Maximum of several beats, element by element."""

from __future__ import annotations

import numpy as np
from amaranth.hdl import Module, Mux, Shape, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ..counter import count
from ..is_greater import is_greater
from ..result_buffer import y_beat
from ..timeline import Steps, Timeline

__all__ = ["Maximum"]


class Maximum(wiring.Component):
    """A beat of ``lanes`` elements for each ``beats`` beats of ``i``: the greatest of each lane; ``last`` of the last.

    At full rate ``i`` never waits.
    """

    def __init__(self, shape: Shape, *, lanes: int, beats: int) -> None:
        self.lanes = lanes
        self.beats = beats
        self.kind = f"maximum_{beats}_of_{lanes}x{'s' if shape.signed else 'u'}{shape.width}"
        beat = y_beat(shape, lanes)
        super().__init__({"i": In(stream.Signature(beat)), "o": Out(stream.Signature(beat))})

    def timed(self, line: Timeline, taken: Steps) -> Steps:
        """Return the beats that leave."""
        made = line.steps(len(taken) // self.beats)
        made.after_some(taken, 1, np.arange(len(made)) * self.beats + self.beats - 1)
        taken.after_some(made, 0, np.arange(len(taken)) // self.beats - 1)
        return made

    def elaborate(self, platform: object) -> Module:
        m = Module()
        full = Signal()
        comes = Signal()
        place_of_beat = count(m, self.beats, when=comes, name="beat")
        first = Signal(init=1)
        m.d.comb += [
            self.i.ready.eq(~full | self.o.ready),
            comes.eq(self.i.valid & self.i.ready),
            self.o.valid.eq(full),
        ]
        with m.If(self.i.ready):
            m.d.sync += full.eq(comes & place_of_beat.last)
        with m.If(comes):
            m.d.sync += first.eq(place_of_beat.last)
        last = Signal(reset_less=True)
        for lane in range(self.lanes):
            given = self.i.payload.data[lane]
            greatest = Signal(given.shape(), name=f"greatest_{lane}", reset_less=True)
            with m.If(comes):
                m.d.sync += greatest.eq(Mux(first | is_greater(given, greatest), given, greatest))
            m.d.comb += self.o.payload.data[lane].eq(greatest)
        with m.If(comes):
            m.d.sync += last.eq(self.i.payload.last)
        m.d.comb += self.o.payload.last.eq(last)
        return m
