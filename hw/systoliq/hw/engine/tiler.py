"""The tiler: walks over the tiles of a job and feeds the array, a beat a cycle."""

from __future__ import annotations

from amaranth.hdl import Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .config import EngineConfig
from .loop import Countdown

__all__ = ["Tiler"]


class Tiler(wiring.Component):
    """For each group of rows, for each column tile, for each beat: read a word of A and a word of B.

    A word of A is released in the last column tile of its group, a word of B in the last group: until then they are
    read again. A beat is issued (``take``) when both words are there; the last beat of a tile also waits for
    ``credit`` and for ``drain_cycles`` since the tile before. ``first`` and ``last`` mark the tile's ends in the cycle
    of ``take``, and ``keep`` the elements of the words that are inside K.
    """

    kind = "tiler"

    def __init__(self, config: EngineConfig) -> None:
        self.config = config
        super().__init__(
            {
                "start": In(1),
                "m": In(16),
                "k": In(16),
                "n": In(16),
                "a_available": In(1),
                "b_available": In(1),
                "a_offset": Out(range(config.a_words)),
                "b_offset": Out(range(config.b_words)),
                "a_release": Out(1),
                "b_release": Out(1),
                "credit": In(1),
                "take": Out(1),
                "first": Out(1),
                "last": Out(1),
                "keep": Out(config.depth),
                "starved": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self.config
        running = Signal()
        beat = Countdown(m, self.k, config.depth, name="k")
        column = Countdown(m, self.n, config.cols, name="n")
        group = Countdown(m, self.m, config.rows, name="m")
        a_offset = Signal(range(config.a_words))
        b_offset = Signal(range(config.b_words))
        pace = Signal(range(config.drain_cycles))
        begins = Signal(init=1)
        m.d.comb += [
            self.a_offset.eq(a_offset),
            self.b_offset.eq(b_offset),
            self.take.eq(running & self.a_available & self.b_available & (~beat.final | (self.credit & (pace == 0)))),
            self.starved.eq(running & ~(self.a_available & self.b_available)),
            self.first.eq(self.take & begins),
            self.last.eq(self.take & beat.final),
            self.a_release.eq(self.take & column.final),
            self.b_release.eq(self.take & group.final),
        ]
        for i in range(config.depth):
            m.d.comb += self.keep[i].eq(beat.taken > Const(i, beat.taken.shape()))

        with m.If(pace != 0):
            m.d.sync += pace.eq(pace - 1)
        with m.If(self.take):
            beat.advance()
            m.d.sync += begins.eq(beat.final)
            with m.If(~column.final):
                m.d.sync += a_offset.eq(a_offset + 1)
            with m.If(~group.final):
                m.d.sync += b_offset.eq(b_offset + 1)
            with m.If(beat.final):
                m.d.sync += pace.eq(config.drain_cycles - 1)
                m.d.sync += a_offset.eq(0)
                column.advance()
                with m.If(column.final):
                    m.d.sync += b_offset.eq(0)
                    group.advance()
                    with m.If(group.final):
                        m.d.sync += running.eq(0)
        with m.If(self.start):
            m.d.sync += running.eq(1)
        return m
