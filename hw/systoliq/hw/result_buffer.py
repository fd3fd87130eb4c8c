"""The result buffer: where finished outputs wait for a slow receiver, and the credit that keeps it from overflowing."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Shape, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from .block_ram import BlockRam
from .credit import Credit
from .hierarchy import place
from .memory_readout import memory_readout, readout_timed
from .timeline import Steps, Timeline

__all__ = ["ResultBuffer", "result_flags", "y_beat"]


def result_flags(**extra: object) -> data.StructLayout:
    """Flags of a beat: ``last`` ends a batch, ``tile_last`` a tile; ``extra`` holds more flags of the owner."""
    return data.StructLayout({"last": 1, "tile_last": 1, **extra})


def y_beat(shape: Shape, lanes: int) -> data.StructLayout:
    """One beat of Y: neighbouring outputs of one row, one per lane, and whether it ends a batch."""
    return data.StructLayout({"data": data.ArrayLayout(shape, lanes), "last": 1})


class ResultBuffer(wiring.Component):
    """A memory per lane; a beat leaves when the last lane, which is always the latest, has brought its part.

    There is room for ``tiles`` tiles of up to ``tile_beats`` beats. ``credit`` is 1 while there is room for the results
    of one more tile, and ``reserve`` (only while ``credit``) reserves it; the room is free again a cycle after the beat
    flagged ``tile_last`` has left. ``credit_soon`` is the ``credit`` of the next cycle, unless ``reserve`` is 1. The
    flags come with the last lane's push. A result can leave ``latency`` cycles after its push. All outputs but
    ``credit_soon`` come from registers, including the memories' output registers.
    """

    kind = "result_buffer"

    def __init__(
        self, shape: Shape, flags: data.StructLayout, *, lanes: int, tile_beats: int, tiles: int, cells: str
    ) -> None:
        self.lanes = lanes
        self.tiles = tiles
        self.capacity = tile_beats * tiles
        self.cells = cells
        y = data.ArrayLayout(shape, lanes)
        super().__init__(
            {
                "reserve": In(1),
                "credit": Out(1),
                "credit_soon": Out(1),
                "push": In(lanes),
                "y": In(y),
                "flags": In(flags),
                "o": Out(stream.Signature(data.StructLayout({"data": y, "flags": flags}))),
            }
        )

    @staticmethod
    def latency_of(cells: str) -> int:
        """Into the memory, and out of it."""
        return 1 + BlockRam.latency_of(cells)

    def timed(self, line: Timeline, pushed: Steps) -> Steps:
        """Return the beats that leave, from the pushes of the last lane."""
        return readout_timed(line, line.following(pushed, 1), latency=BlockRam.latency_of(self.cells))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        fetch = Signal()
        complete = Credit(m, self.capacity, name="complete", full=False, give=self.push[-1], take=fetch)
        out = memory_readout(m, available=complete.any, ready=self.o.ready, latency=BlockRam.latency_of(self.cells))
        m.d.comb += [fetch.eq(out.fetch), self.o.valid.eq(out.valid)]
        oldest = self._place(m, "oldest", moves=fetch)
        for lane in range(self.lanes):
            y, kept = Value.cast(self.y[lane]), Value.cast(self.o.payload.data[lane])
            if lane == self.lanes - 1:
                y, kept = Cat(y, self.flags), Cat(kept, self.o.payload.flags)
            ram = BlockRam(len(y), depth=1 << len(oldest), cells=self.cells)
            m.submodules[f"ram_{lane}"] = place(ram, platform)
            m.d.comb += [
                ram.write.eq(self.push[lane]),
                ram.write_address.eq(self._place(m, f"newest_{lane}", moves=self.push[lane])),
                ram.write_data.eq(y),
                ram.read.eq(out.read),
                ram.read_address.eq(oldest),
                ram.show.eq(out.show),
                kept.eq(ram.read_data),
            ]
        returned = Signal()
        m.d.sync += returned.eq(self.o.valid & self.o.ready & self.o.payload.flags.tile_last)
        credit = Credit(m, self.tiles, name="credit", full=True, give=returned, take=self.reserve)
        m.d.comb += [self.credit.eq(credit.any), self.credit_soon.eq(credit.any | returned)]
        return m

    def _place(self, m: Module, name: str, *, moves: Value) -> Signal:
        """A place in the memories, which ``moves`` on to the next, round and round."""
        at = Signal((self.capacity - 1).bit_length(), name=name)
        with m.If(moves):
            m.d.sync += at.eq(at + 1)
        return at
