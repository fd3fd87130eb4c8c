"""Replay buffer: holds a group of A beats and gives it out once for every column tile."""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from .block_ram import BlockRam
from .counter import successor
from .hierarchy import place
from .way_out import way_out

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

    def elaborate(self, platform: object) -> Module:
        m = Module()
        depth = 2 * self.beats
        ram = self.ram
        m.submodules.ram = place(ram, platform)

        full = Signal(range(3))  # complete packets held, the one being given out included
        filled = Signal()
        freed = Signal()
        m.d.sync += full.eq(full + filled - freed)

        write_beat = Signal(range(depth))
        m.d.comb += [
            self.i.ready.eq(full != 2),
            ram.write.eq(self.i.valid & self.i.ready),
            ram.write_address.eq(write_beat),
            ram.write_data.eq(self.i.payload),
            filled.eq(ram.write & ((write_beat == self.beats - 1) | (write_beat == depth - 1))),
        ]
        with m.If(ram.write):
            m.d.sync += write_beat.eq(successor(write_beat, depth))

        bank = Signal()
        beat = Signal(range(self.beats))
        repeat = Signal(range(self.times))
        out = way_out(m, available=full != 0, ready=self.o.ready, latency=ram.latency)
        m.d.comb += [
            ram.read.eq(out.fetch),
            ram.read_address.eq(beat + bank * self.beats),
            ram.show.eq(out.show),
            self.o.valid.eq(out.valid),
            self.o.payload.eq(ram.read_data),
        ]
        with m.If(ram.read):
            m.d.sync += beat.eq(successor(beat, self.beats))
            with m.If(beat == self.beats - 1):
                m.d.sync += repeat.eq(successor(repeat, self.times))
                with m.If(repeat == self.times - 1):
                    m.d.sync += bank.eq(~bank)
                    m.d.comb += freed.eq(1)
        return m
