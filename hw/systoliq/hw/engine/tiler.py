"""The tiler: walks over the tiles of a job and feeds the array, a beat a cycle."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..delay import delay
from .config import EngineConfig
from .loop import Countdown, Pace

__all__ = ["Tiler"]


class Tiler(wiring.Component):
    """For each group of rows, for each column tile, for each beat: read a word of A and a word of B.

    A word of A is read for the first time in the first column tile of its group, and released in the last; a word of B
    in the first and in the last group. ``a_coming`` and ``b_coming`` say a cycle ahead that there is a word that was
    never read; ``a_there`` and ``b_there``, registers, that the word at the address came. ``take`` issues a beat when
    both did; the last beat of a tile also waits for ``credit`` and
    for ``drain_cycles`` since the tile before. ``first`` and ``last`` mark the tile's ends in the cycle of ``take``,
    and ``keep`` the elements of the words that are inside K. ``rests`` is 1 if no tile has ended within
    ``drain_cycles``: all sums have left the array.
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
                "a_coming": In(1),
                "b_coming": In(1),
                "a_there": Out(1),
                "b_there": Out(1),
                "a_address": Out(range(config.a_words)),
                "b_address": Out(range(config.b_words)),
                "a_fresh": Out(1),
                "b_fresh": Out(1),
                "a_release": Out(1),
                "b_release": Out(1),
                "credit": In(1),
                "take": Out(1),
                "first": Out(1),
                "last": Out(1),
                "keep": Out(config.depth),
                "starved": Out(1),
                "rests": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self.config
        running = Signal()
        stays = Signal()
        beat = Countdown(m, self.k, config.depth, name="k", load=self.start)
        column = Countdown(m, self.n, config.cols, name="n", load=self.start, slow=True)
        group = Countdown(m, self.m, config.rows, name="m", load=self.start, slow=True)
        a_base = Signal(range(config.a_words))  # address of the group's first word
        b_base = Signal(range(config.b_words))  # and of the job's
        # Decided a cycle ahead, so that ``take`` hangs on four registers: whether a word of A, and one of B, are there.
        pace = Pace(m, config.drain_cycles - 1, name="pace", begin=self.last)
        may_end = Signal()
        rests = Signal(init=1)
        m.d.sync += [rests.eq(pace.over & ~self.last), may_end.eq(pace.over & ~self.last & self.credit)]
        begins = Signal(init=1)
        a_there = Signal()
        b_there = Signal()
        row_ends = Signal()  # of tiles: the group's last
        a_again = Signal()  # the next word was read before
        b_again = Signal()
        m.d.comb += [
            self.a_there.eq(a_there),
            self.b_there.eq(b_there),
            self.a_fresh.eq(column.initial),
            self.b_fresh.eq(group.initial),
            self.take.eq(a_there & b_there & (~beat.final | may_end)),
            self.starved.eq(running & ~(a_there & b_there)),
            self.first.eq(self.take & begins),
            self.last.eq(a_there & b_there & beat.final & may_end),
            row_ends.eq(self.last & column.final),
            stays.eq(self.start | (running & ~(row_ends & group.final))),
            a_again.eq(~Mux(self.last, column.final, column.initial)),
            b_again.eq(~Mux(row_ends, group.final, group.initial)),
            self.a_release.eq(self.take & column.final),
            self.b_release.eq(self.take & group.final),
            self.rests.eq(rests),
            self.keep.eq(beat.inside),
        ]
        with m.If(self.take):
            beat.advance()
            m.d.sync += begins.eq(beat.final)
            a_next, b_next = (self.a_address + 1)[: len(a_base)], (self.b_address + 1)[: len(b_base)]
            m.d.sync += [self.a_address.eq(a_next), self.b_address.eq(b_next)]
            with m.If(self.last):
                m.d.sync += self.a_address.eq(Mux(column.final, a_next, a_base))
                column.advance()
                with m.If(column.final):
                    m.d.sync += self.b_address.eq(Mux(group.final, b_next, b_base))
                    group.advance()
        # The address in the cycle after a group's, or the job's, last word.
        with m.If(delay(m, row_ends, 1, name="row_ended", reset_less=False)):
            m.d.sync += a_base.eq(self.a_address)
        with m.If(delay(m, row_ends & group.final, 1, name="job_ended", reset_less=False)):
            m.d.sync += b_base.eq(self.b_address)
        m.d.sync += [
            running.eq(stays),
            a_there.eq(stays & (self.a_coming | (a_again & ~self.start))),
            b_there.eq(self.b_coming | (b_again & ~self.start)),
        ]
        return m
