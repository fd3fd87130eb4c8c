"""Repeated: a join, of whose inputs one has a single pixel for all of an image's."""

from __future__ import annotations

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ..hierarchy import place
from ..timeline import Steps, Timeline
from .pairwise import Pairwise
from .replay import Replay

__all__ = ["Repeated"]


class Repeated(wiring.Component):
    """``core``, whose input ``index`` (0 or 1) is a pixel of ``beats`` beats, which it needs ``times`` times."""

    namespace = True

    def __init__(self, core: Pairwise, *, index: int, beats: int, times: int, cells: str, kind: str) -> None:
        self.core = core
        self.index = index
        self.kind = kind
        beat = core.i_0.payload.shape()
        shape = beat["data"].shape
        self.replay = Replay(shape.elem_shape, lanes=shape.length, beats=beats, times=times, cells=cells)
        super().__init__(
            {
                "i_0": In(stream.Signature(beat)),
                "i_1": In(stream.Signature(core.i_1.payload.shape())),
                "o": Out(stream.Signature(core.o.payload.shape())),
            }
        )

    def timed(self, line: Timeline, *taken: Steps) -> Steps:
        """Return the beats that leave."""
        inside = list(taken)
        inside[self.index] = self.replay.timed(line, taken[self.index])
        return self.core.timed(line, *inside)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.core = place(self.core, platform)
        m.submodules.replay = place(self.replay, platform)
        outside, inside = [self.i_0, self.i_1], [self.core.i_0, self.core.i_1]
        wiring.connect(m, wiring.flipped(outside[self.index]), self.replay.i)
        wiring.connect(m, self.replay.o, inside[self.index])
        wiring.connect(m, wiring.flipped(outside[1 - self.index]), inside[1 - self.index])
        wiring.connect(m, self.core.o, wiring.flipped(self.o))
        return m
