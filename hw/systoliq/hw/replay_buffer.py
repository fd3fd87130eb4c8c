"""Replay buffer: holds a group of A beats and gives it out once for every column tile."""

from __future__ import annotations

import numpy as np
from amaranth.hdl import Const, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from .block_ram import BlockRam
from .counter import count, successor
from .credit import Credit
from .hierarchy import place
from .memory_readout import memory_readout, readout_timed
from .timeline import Steps, Timeline

__all__ = ["ReplayBuffer"]


class ReplayBuffer(wiring.Component):
    """Takes packets of ``beats`` beats and gives each out ``times`` times in a row.

    Double-buffered: the next packet comes in while the current one is repeated, so for ``times >= 2`` neither side
    waits at full rate. A packet is given out once it is complete: its first beat leaves ``latency`` cycles after its
    last one came, one more where its memory (a `BlockRam` of ``cells``) is ``registered``.
    """

    kind = "replay_buffer"

    def __init__(self, shape: object, *, beats: int, times: int, cells: str, registered: bool) -> None:
        self.beats = beats
        self.times = times
        self.ram = BlockRam(shape, depth=2 * beats, cells=cells, registered=registered)
        self.latency = 1 + self.ram.latency
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape))})

    def timed(self, line: Timeline, taken: Steps) -> Steps:
        """Return the beats that leave."""
        packets = len(taken) // self.beats
        fetched = line.steps(packets * self.beats * self.times)
        fetched.after_some(taken, 1, (np.arange(len(fetched)) // (self.beats * self.times) + 1) * self.beats - 1)
        freed = (np.arange(packets) + 1) * self.beats * self.times - 1  # with the last beat of a packet
        taken.after_some(fetched, 1, np.repeat(np.array([-1, -1, *freed])[:packets], self.beats))
        return readout_timed(line, fetched, latency=self.ram.latency)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        depth = 2 * self.beats
        ram = self.ram
        m.submodules.ram = place(ram, platform)

        # Packets held, the one being given out among them: full ones, and places for such.
        filled = Signal()
        freed = Signal()
        complete = Credit(m, 2, name="complete", full=False, give=filled, take=freed)
        room = Credit(m, 2, name="room", full=True, give=freed, take=filled)

        put = count(m, self.beats, when=ram.write, name="put_beat")
        newest = Signal(range(depth))
        m.d.comb += [
            self.i.ready.eq(room.any),
            ram.write.eq(self.i.valid & self.i.ready),
            ram.write_address.eq(newest),
            ram.write_data.eq(self.i.payload),
            filled.eq(ram.write & put.last),
        ]
        with m.If(ram.write):
            m.d.sync += newest.eq(successor(newest, depth))

        out = memory_readout(m, available=complete.any, ready=self.o.ready, latency=ram.latency)
        beat = count(m, self.beats, when=out.fetch, name="beat")
        repeat = count(m, self.times, when=out.fetch & beat.last, name="repeat")
        ends = Signal(init=self.beats * self.times == 1)  # the last beat of the last repetition: known a beat before
        comes: Value = Const(1, 1)
        if self.beats > 1:
            comes = (beat.value == self.beats - 2) & repeat.last
        elif self.times > 1:
            comes = repeat.value == self.times - 2
        with m.If(out.fetch):
            m.d.sync += ends.eq(comes)
        at = Signal(range(depth))
        bank = Signal()
        m.d.comb += [
            ram.read.eq(out.read),
            ram.read_address.eq(at),
            ram.show.eq(out.show),
            self.o.valid.eq(out.valid),
            self.o.payload.eq(ram.read_data),
            freed.eq(out.fetch & ends),
        ]
        with m.If(out.fetch):
            m.d.sync += at.eq(at + 1)
            with m.If(beat.last):
                m.d.sync += at.eq(Mux(bank ^ repeat.last, self.beats, 0))
        with m.If(freed):
            m.d.sync += bank.eq(~bank)
        return m
