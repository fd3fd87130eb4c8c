"""Replay: a stream of images whose beats come several times, block by block."""

from __future__ import annotations

from amaranth.hdl import Module, Shape
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ..block_ram import SMALL
from ..hierarchy import place
from ..replay_buffer import ReplayBuffer
from ..result_buffer import y_beat
from ..timeline import Steps, Timeline
from .walk import Walk

__all__ = ["Replay"]


class Replay(wiring.Component):
    """Gives each block of ``beats`` beats of ``i``, once it is whole, ``times`` times; ``last`` in its last round only.

    Blocks come while others leave: at full rate a beat leaves in each cycle, where ``times`` is 2 or more.
    """

    moves_bits = True

    def __init__(self, shape: Shape, *, lanes: int, beats: int, times: int, cells: str) -> None:
        beat = y_beat(shape, lanes)
        self.buffer = ReplayBuffer(beat, beats=beats, times=times, cells=cells, registered=2 * beats > SMALL)
        self.kind = f"replay_{beats}_of_{lanes}x{shape.width}_{times}_times"
        self.buffer.kind = f"{self.kind}_buffer"
        super().__init__({"i": In(stream.Signature(beat)), "o": Out(stream.Signature(beat))})

    def timed(self, line: Timeline, taken: Steps) -> Steps:
        """Return the beats that leave."""
        return self.buffer.timed(line, taken)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        buffer = self.buffer
        m.submodules.buffer = place(buffer, platform)
        wiring.connect(m, wiring.flipped(self.i), buffer.i)
        walk = Walk(m, [buffer.beats, buffer.times], step=self.o.valid & self.o.ready, name="round")
        m.d.comb += [
            self.o.valid.eq(buffer.o.valid),
            self.o.payload.eq(buffer.o.payload),
            self.o.payload.last.eq(buffer.o.payload.last & walk.counts[1].last),
            buffer.o.ready.eq(self.o.ready),
        ]
        return m
