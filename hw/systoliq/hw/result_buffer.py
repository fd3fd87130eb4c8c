"""The result buffer: where finished outputs wait for a slow receiver, and the credit that keeps it from overflowing."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Shape, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from .credit import Credit
from .hierarchy import place
from .queue import Queue

__all__ = ["ResultBuffer", "result_flags", "y_beat"]


def result_flags(**extra: object) -> data.StructLayout:
    """What goes with a beat: ``last`` ends a batch, ``tile_last`` a tile; ``extra`` as the owner needs."""
    return data.StructLayout({"last": 1, "tile_last": 1, **extra})


def y_beat(shape: Shape, lanes: int) -> data.StructLayout:
    """One beat of Y: neighbouring outputs of one row, one per lane, and whether it ends a batch."""
    return data.StructLayout({"data": data.ArrayLayout(shape, lanes), "last": 1})


class ResultBuffer(wiring.Component):
    """One queue per lane; a beat leaves when the last lane, which is always the latest, has brought its part.

    There is room for ``tiles`` tiles of up to ``tile_beats`` beats. ``credit`` says that the results of one more tile
    will find room, and ``reserve`` (only while ``credit``) books it; it is given back when the beat flagged
    ``tile_last`` leaves. The flags come with the last lane's push. A result can leave ``latency`` cycles after its
    push.
    """

    kind = "result_buffer"
    latency = Queue.latency

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
        taken = Signal()
        m.d.comb += taken.eq(self.o.valid & self.o.ready)
        for lane in range(self.lanes):
            latest = lane == self.lanes - 1
            y, kept = Value.cast(self.y[lane]), Value.cast(self.o.payload.data[lane])
            if latest:
                y, kept = Cat(y, self.flags), Cat(kept, self.o.payload.flags)
            # One of two refuses a push in the cycle after another one, while its output register is still empty.
            queue = Queue(len(y), depth=max(self.capacity, 3), kind="queue_latest" if latest else "queue")
            m.submodules[f"queue_{lane}"] = place(queue, platform)
            m.d.comb += [
                queue.i.payload.eq(y),
                queue.i.valid.eq(self.push[lane]),
                queue.o.ready.eq(taken),
                kept.eq(queue.o.payload),
            ]
            if latest:
                m.d.comb += self.o.valid.eq(queue.o.valid)

        returned = taken & self.o.payload.flags.tile_last
        credit = Credit(m, self.tiles, name="credit", full=True, give=returned, take=self.reserve)
        m.d.comb += self.credit.eq(credit.any)
        return m
