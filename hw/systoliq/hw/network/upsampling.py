"""Upsampling: every pixel of an image several times across, every line several times down."""

from __future__ import annotations

from amaranth.hdl import Module, Shape
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ..hierarchy import place
from ..result_buffer import y_beat
from .replay import Replay

__all__ = ["Upsampling"]


class Upsampling(wiring.Component):
    """Lines of ``line`` beats, each ``down`` times; pixels of ``pixel`` beats, each ``across`` times. A beat a cycle.

    ``i`` and ``o`` give images in beats of ``lanes`` elements of ``shape``; ``last`` ends one.
    """

    namespace = True

    def __init__(
        self, shape: Shape, *, lanes: int, line: int, down: int, pixel: int, across: int, cells: str, kind: str
    ) -> None:
        self.kind = kind
        sizes = [(line, down), (pixel, across)]
        self.replays = [
            Replay(shape, lanes=lanes, beats=beats, times=times, cells=cells) for beats, times in sizes if times > 1
        ]
        beat = y_beat(shape, lanes)
        super().__init__({"i": In(stream.Signature(beat)), "o": Out(stream.Signature(beat))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        source: stream.Interface = wiring.flipped(self.i)
        for index, replay in enumerate(self.replays):
            m.submodules[f"replay_{index}"] = place(replay, platform)
            wiring.connect(m, source, replay.i)
            source = replay.o
        wiring.connect(m, source, wiring.flipped(self.o))
        return m
