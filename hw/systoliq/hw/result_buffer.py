"""The result buffer: where finished outputs wait for a slow receiver, and the credit that keeps it from overflowing."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Shape, Signal, Value, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .counter import successor
from .credit import Credit

__all__ = ["ResultBuffer", "result_flags", "y_beat"]


def result_flags(**extra: object) -> data.StructLayout:
    """What goes with a beat: ``last`` ends a batch, ``tile_last`` a tile; ``extra`` as the owner needs."""
    return data.StructLayout({"last": 1, "tile_last": 1, **extra})


def y_beat(shape: Shape, lanes: int) -> data.StructLayout:
    """One beat of Y: neighbouring outputs of one row, one per lane, and whether it ends a batch."""
    return data.StructLayout({"data": data.ArrayLayout(shape, lanes), "last": 1})


class ResultBuffer(wiring.Component):
    """A memory per lane; a beat leaves when the last lane, which is always the latest, has brought its part.

    There is room for ``tiles`` tiles of up to ``tile_beats`` beats. ``credit`` says that the results of one more tile
    will find room, and ``reserve`` (only while ``credit``) books it; it is given back when the beat flagged
    ``tile_last`` leaves. The flags come with the last lane's push. A result can leave ``latency`` cycles after its
    push. All outputs come from registers, those of the memories among them.
    """

    kind = "result_buffer"
    latency = 2

    def __init__(self, shape: Shape, flags: data.StructLayout, *, lanes: int, tile_beats: int, tiles: int) -> None:
        self.lanes = lanes
        self.tiles = tiles
        self.capacity = tile_beats * tiles
        y = data.ArrayLayout(shape, lanes)
        super().__init__(
            {
                "reserve": In(1),
                "credit": Out(1),
                "push": In(lanes),
                "y": In(y),
                "flags": In(flags),
                "o": Out(stream.Signature(data.StructLayout({"data": y, "flags": flags}))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        valid, fetch = Signal(), Signal()
        complete = Credit(m, self.capacity, name="complete", full=False, give=self.push[-1], take=fetch)
        m.d.comb += [fetch.eq(complete.any & (~valid | self.o.ready)), self.o.valid.eq(valid)]
        m.d.sync += valid.eq(complete.any | (valid & ~self.o.ready))
        oldest = self._place(m, "oldest", moves=fetch)
        for lane in range(self.lanes):
            y, kept = Value.cast(self.y[lane]), Value.cast(self.o.payload.data[lane])
            if lane == self.lanes - 1:
                y, kept = Cat(y, self.flags), Cat(kept, self.o.payload.flags)
            # Without the attribute Yosys builds logic for words that are read while they are written: none is.
            memory = Memory(shape=unsigned(len(y)), depth=self.capacity, init=[], attrs={"no_rw_check": 1})
            m.submodules[f"memory_{lane}"] = memory
            write, read = memory.write_port(), memory.read_port()
            m.d.comb += [
                write.en.eq(self.push[lane]),
                write.addr.eq(self._place(m, f"newest_{lane}", moves=self.push[lane])),
                write.data.eq(y),
                read.en.eq(fetch),
                read.addr.eq(oldest),
                kept.eq(read.data),
            ]
        taken = self.o.valid & self.o.ready
        returned = taken & self.o.payload.flags.tile_last
        credit = Credit(m, self.tiles, name="credit", full=True, give=returned, take=self.reserve)
        m.d.comb += self.credit.eq(credit.any)
        return m

    def _place(self, m: Module, name: str, *, moves: Value) -> Signal:
        """A place in the memories, which ``moves`` on to the next, round and round."""
        at = Signal(range(self.capacity), name=name)
        with m.If(moves):
            m.d.sync += at.eq(successor(at, self.capacity))
        return at
