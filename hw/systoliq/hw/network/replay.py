"""Replay: a stream whose beats come several times, block by block."""

from __future__ import annotations

from amaranth.hdl import Module, Shape, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ..block_ram import SMALL, BlockRam
from ..credit import Credit
from ..hierarchy import place
from ..result_buffer import y_beat
from ..way_out import way_out
from .walk import Walk

__all__ = ["Replay"]

_LEAST = 16  # words, so that blocks of one beat keep their pace


class Replay(wiring.Component):
    """Gives each block of ``beats`` beats of ``i`` ``times`` times; ``last`` in its last round only.

    A beat leaves in each cycle, from the first of a block on: nothing waits for whole blocks. There is room for two.
    """

    moves_bits = True

    def __init__(self, shape: Shape, *, lanes: int, beats: int, times: int, cells: str) -> None:
        beat = y_beat(shape, lanes)
        self.beats = beats
        self.times = times
        width = shape.width * lanes + 1
        depth = 1 << (max(2 * beats, _LEAST) - 1).bit_length()
        self.ram = BlockRam(width, depth=depth, cells=cells, registered=depth > SMALL)
        self.kind = f"replay_{beats}_of_{width}_{times}_times"
        super().__init__({"i": In(stream.Signature(beat)), "o": Out(stream.Signature(beat))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        ram = self.ram
        m.submodules.ram = place(ram, platform)
        came, fetched = Signal(), Signal()
        first = Signal(init=1)  # round of a block: its words may still come
        final = Signal()  # round of a block: its words leave
        room = Credit(m, ram.depth, name="room", full=True, give=fetched & final, take=came)
        there = Credit(m, ram.depth, name="there", full=False, give=came, take=fetched & first)
        out = way_out(m, available=there.any | ~first, ready=self.o.ready, latency=ram.latency)
        walk = Walk(m, [self.beats, self.times], step=out.fetch, name="at")
        newest = Signal(range(ram.depth))
        m.d.comb += [
            final.eq(walk.counts[1].last),
            came.eq(self.i.valid & room.any),
            fetched.eq(out.fetch),
            self.i.ready.eq(room.any),
            ram.write.eq(came),
            ram.write_address.eq(newest),
            ram.write_data.eq(Value.cast(self.i.payload)),
            ram.read.eq(out.fetch),
            ram.read_address.eq(walk.place([1, 0, self.beats], 0, len(newest), name="oldest")),
            ram.show.eq(out.show),
            self.o.valid.eq(out.valid),
        ]
        with m.If(came):
            m.d.sync += newest.eq(newest + 1)
        with m.If(out.fetch & walk.last[0]):
            m.d.sync += first.eq(final)
        ends: Value = final
        for step, moves in zip(range(ram.latency), (out.fetch, out.show), strict=False):  # with the word
            now = Signal(name=f"ends_{step + 1}", reset_less=True)
            with m.If(moves):
                m.d.sync += now.eq(ends)
            ends = now
        word = Value.cast(ram.read_data)
        m.d.comb += [Value.cast(self.o.payload.data).eq(word[:-1]), self.o.payload.last.eq(word[-1] & ends)]
        return m
