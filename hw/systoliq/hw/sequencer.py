"""The sequencer: turns a stream of A beats into tiles, and admits a tile only when its results have a place to go."""

from __future__ import annotations

import numpy as np
from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from .counter import count
from .schedule import Schedule
from .timeline import Steps, Timeline

__all__ = ["Sequencer", "a_beat", "tiles_timed"]


def a_beat(word: data.ArrayLayout) -> data.StructLayout:
    """One beat of A: the operands of all rows, and whether it ends a batch."""
    return data.StructLayout({"data": word, "last": 1})


class Sequencer(wiring.Component):
    """Counts beats into tiles and marks their first and last beat.

    ``i`` gives each group of rows once for every column tile. In the cycle in which a beat is taken ``beat`` is 1,
    ``address`` is ``column_tile * beats + beat number`` (where the weights of the beat are), ``word`` the operands
    (zeros in any other cycle), and ``first``, ``last`` and ``batch_last`` mark the tile's ends and its batch's.

    The last beat of a tile waits until ``credit`` says that the result buffer has room for all of the tile's results,
    and until ``drain_cycles`` cycles have passed since the last beat of the tile before. ``credit_soon`` is the
    ``credit`` of the next cycle, unless a tile ends in this one. With tiles of several beats, it is used instead, so
    that ``i.ready`` is a register.
    """

    kind = "sequencer"

    def __init__(self, schedule: Schedule, word: data.ArrayLayout) -> None:
        self.schedule = schedule
        super().__init__(
            {
                "i": In(stream.Signature(a_beat(word))),
                "credit": In(1),
                "credit_soon": In(1),
                "word": Out(word),
                "address": Out(range(max(schedule.column_tiles * schedule.beats, 2))),  # Verilog has no port of 0 bits
                "first": Out(1),
                "last": Out(1),
                "batch_last": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        beats, tiles = self.schedule.beats, self.schedule.column_tiles
        take = Signal()
        beat = count(m, beats, when=take, name="beat")
        address = count(m, tiles * beats, when=take, name="address")
        first = Signal(init=1)  # of a tile
        m.d.comb += [
            take.eq(self.i.valid & self.i.ready),
            self.address.eq(address.value),
            self.first.eq(take & first),
            self.last.eq(take & beat.last),
            self.batch_last.eq(self.i.payload.last & address.last),
        ]
        with m.If(take):
            m.d.comb += self.word.eq(self.i.payload.data)
            m.d.sync += first.eq(beat.last)
        may_end: Value = self.credit if beats == 1 else self.credit_soon
        if self.schedule.drain_cycles > beats:
            pace = Signal(range(self.schedule.drain_cycles))
            paced = Signal(init=1)  # pace is 0
            may_end &= paced if beats == 1 else paced | (pace == 1)
            with m.If(self.last):
                m.d.sync += [pace.eq(self.schedule.drain_cycles - 1), paced.eq(0)]
            with m.Elif(~paced):
                m.d.sync += [pace.eq(pace - 1), paced.eq(pace == 1)]
        if beats == 1:
            m.d.comb += self.i.ready.eq(may_end)
            return m
        ready = Signal(init=1)
        ends = Mux(take, beat.value == beats - 2, beat.last)  # the next beat, if this one does not end a tile
        m.d.sync += ready.eq(self.last | ~ends | may_end)
        m.d.comb += self.i.ready.eq(ready)
        return m


def tiles_timed(line: Timeline, schedule: Schedule, taken: Steps, done: Steps, *, room: int) -> None:
    """Let the last beat of each tile of ``schedule`` wait as in `Sequencer`: for the drain of the tile before, and for
    the results ``done``, the last ones of tiles, of which at most ``room`` are under way.
    """
    ends = line.steps(len(done), gap=schedule.drain_cycles)
    ends.after_some(taken, 0, (np.arange(len(done)) + 1) * schedule.beats - 1)
    ends.after(done, 2, lag=room)  # a register, and the credit's register
    tile, beat = np.divmod(np.arange(len(taken)), schedule.beats)
    taken.after_some(ends, 0, np.where(beat == schedule.beats - 1, tile, -1))
