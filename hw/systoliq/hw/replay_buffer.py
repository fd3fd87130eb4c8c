"""Replay buffer: holds a group of A beats and gives it out once for every column tile."""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .counter import successor

__all__ = ["ReplayBuffer"]


class ReplayBuffer(wiring.Component):
    """Takes packets of ``beats`` beats and gives each out ``times`` times in a row.

    Double-buffered: the next packet comes in while the current one is repeated, so for ``times >= 2`` neither side
    waits at full rate. A packet is given out once it is complete: its first beat leaves ``latency`` cycles after its
    last one came.
    """

    kind = "replay_buffer"
    latency = 2

    def __init__(self, shape: object, *, beats: int, times: int) -> None:
        self.beats = beats
        self.times = times
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        depth = 2 * self.beats
        m.submodules.memory = memory = Memory(shape=self.i.payload.shape(), depth=depth, init=[])
        write, read = memory.write_port(), memory.read_port()

        full = Signal(range(3))  # complete packets held, the one being given out included
        filled = Signal()
        freed = Signal()
        m.d.sync += full.eq(full + filled - freed)

        write_beat = Signal(range(depth))
        m.d.comb += [
            self.i.ready.eq(full != 2),
            write.en.eq(self.i.valid & self.i.ready),
            write.addr.eq(write_beat),
            write.data.eq(self.i.payload),
            filled.eq(write.en & ((write_beat == self.beats - 1) | (write_beat == depth - 1))),
        ]
        with m.If(write.en):
            m.d.sync += write_beat.eq(successor(write_beat, depth))

        bank = Signal()
        beat = Signal(range(self.beats))
        repeat = Signal(range(self.times))
        held = Signal()  # the read port shows a beat that was not taken yet
        go = Signal()
        m.d.comb += [
            go.eq((full != 0) & (~held | self.o.ready)),
            read.en.eq(go),
            read.addr.eq(beat + bank * self.beats),
            self.o.valid.eq(held),
            self.o.payload.eq(read.data),
        ]
        with m.If(~held | self.o.ready):
            m.d.sync += held.eq(go)
        with m.If(go):
            m.d.sync += beat.eq(successor(beat, self.beats))
            with m.If(beat == self.beats - 1):
                m.d.sync += repeat.eq(successor(repeat, self.times))
                with m.If(repeat == self.times - 1):
                    m.d.sync += bank.eq(~bank)
                    m.d.comb += freed.eq(1)
        return m
