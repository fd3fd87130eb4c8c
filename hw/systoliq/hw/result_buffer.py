"""The result buffer: where finished outputs wait for a slow receiver, and the credit that keeps it from overflowing."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Shape, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from .counter import successor
from .hierarchy import place
from .queue import Queue
from .schedule import Schedule
from .table import table

__all__ = ["ResultBuffer", "y_beat"]


def y_beat(shape: Shape, lanes: int) -> data.StructLayout:
    """One beat of Y: neighbouring outputs of one row, one per lane, and whether it ends a batch."""
    return data.StructLayout({"data": data.ArrayLayout(shape, lanes), "last": 1})


class ResultBuffer(wiring.Component):
    """One queue per lane; a beat leaves when the last lane, which is always the latest, has brought its part.

    ``credit`` says that all results of the next tile will find room; ``reserve`` (only while ``credit``) books it.
    ``last`` comes with the last lane's push. A result can leave ``latency`` cycles after it was pushed.
    """

    kind = "result_buffer"
    latency = Queue.latency

    def __init__(self, schedule: Schedule, shape: Shape, *, flight_cycles: int) -> None:
        """``flight_cycles``: cycles from the reservation of a tile to the departure of its last result."""
        self.schedule = schedule
        self.shape = shape
        tiles = 1 + -(-flight_cycles // schedule.tile_cycles)
        self.capacity = schedule.drain_cycles * tiles
        lanes = schedule.lanes
        super().__init__(
            {
                "reserve": In(1),
                "credit": Out(1),
                "push": In(lanes),
                "y": In(data.ArrayLayout(shape, lanes)),
                "last": In(1),
                "o": Out(stream.Signature(y_beat(shape, lanes))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        schedule = self.schedule
        taken = Signal()
        m.d.comb += taken.eq(self.o.valid & self.o.ready)
        for lane in range(schedule.lanes):
            latest = lane == schedule.lanes - 1
            y, kept = Value.cast(self.y[lane]), Value.cast(self.o.payload.data[lane])
            if latest:
                y, kept = Cat(y, self.last), Cat(kept, self.o.payload.last)
            queue = Queue(len(y), depth=self.capacity, kind="queue_latest" if latest else "queue")
            m.submodules[f"queue_{lane}"] = place(queue, platform)
            m.d.comb += [
                queue.i.payload.eq(y),
                queue.i.valid.eq(self.push[lane]),
                queue.o.ready.eq(taken),
                kept.eq(queue.o.payload),
            ]
            if latest:
                m.d.comb += self.o.valid.eq(queue.o.valid)

        rows, tiles = schedule.config.rows, schedule.column_tiles
        tile = Signal(range(tiles))
        free = Signal(range(self.capacity + 1), init=self.capacity)
        needs = [rows * schedule.steps(i) for i in range(tiles)]
        need = table(m, tile, needs, free.shape(), name="need")
        m.d.comb += self.credit.eq(free >= need)
        m.d.sync += free.eq(free - Mux(self.reserve, need, 0) + taken)
        with m.If(self.reserve):
            m.d.sync += tile.eq(successor(tile, tiles))
        return m
