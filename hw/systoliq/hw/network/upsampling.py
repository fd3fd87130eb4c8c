"""Upsampling: every pixel of an image several times across, every line several times down."""

from __future__ import annotations

from amaranth.hdl import Module, Shape
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.network import Move, Nearest

from ..hierarchy import place
from ..result_buffer import y_beat
from ..timeline import Steps, Timeline
from .replay import Replay

__all__ = ["Upsampling", "upsampling_times"]


def upsampling_times(node: Move) -> tuple[int, int] | None:
    """Number of times that each row and each column of ``node``'s image is repeated; None for any other selection."""
    if not isinstance(node.movement, Nearest):
        return None
    found = []
    for picked, size in zip((node.movement.rows, node.movement.columns), node.inputs[0].shape[2:], strict=True):
        found.append(len(picked) // size)
        if picked != tuple(index for index in range(size) for _ in range(found[-1])):
            return None
    down, across = found
    return down, across


class Upsampling(wiring.Component):
    """Lines of ``line`` beats, each ``down`` times; pixels of ``pixel`` beats, each ``across`` times. A beat a cycle.

    ``i`` and ``o`` give images in beats of ``lanes`` elements of ``shape``; ``last`` ends one.
    """

    namespace = True

    def __init__(
        self, shape: Shape, *, lanes: int, line: int, down: int, pixel: int, across: int, cells: str, kind: str
    ) -> None:
        self.lanes, self.kind = lanes, kind
        sizes = [(line, down), (pixel, across)]
        self.replays = [
            Replay(shape, lanes=lanes, beats=beats, times=times, cells=cells) for beats, times in sizes if times > 1
        ]
        beat = y_beat(shape, lanes)
        super().__init__({"i": In(stream.Signature(beat)), "o": Out(stream.Signature(beat))})

    def timed(self, line: Timeline, taken: Steps) -> Steps:
        """Return the beats that leave."""
        for replay in self.replays:
            taken = replay.timed(line, taken)
        return taken

    def elaborate(self, platform: object) -> Module:
        m = Module()
        source: stream.Interface = wiring.flipped(self.i)
        for index, replay in enumerate(self.replays):
            m.submodules[f"replay_{index}"] = place(replay, platform)
            wiring.connect(m, source, replay.i)
            source = replay.o
        wiring.connect(m, source, wiring.flipped(self.o))
        return m
