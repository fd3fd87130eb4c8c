"""A queue of words whose reader decides from registers alone, and sees what it decided about a cycle later."""

from __future__ import annotations

from amaranth.hdl import Module, Shape, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ..block_ram import BlockRam
from ..credit import Credit
from ..hierarchy import place

__all__ = ["WordQueue"]

_DEPTH = 16  # words of a memory in lookup tables


class WordQueue(wiring.Component):
    """An `EarlyBuffer` for ``depth`` payloads, a power of two, with the same ports. If nothing was taken, ``taken`` is
    the oldest payload of the cycle before.

    ``i.ready`` and ``any`` are registers. ``take`` reaches counters alone, never the words, and frees a place a cycle
    later.
    """

    moves_bits = True

    def __init__(self, payload: object, *, cells: str, depth: int = _DEPTH) -> None:
        width = Shape.cast(payload).width
        self.depth = depth
        self.ram = BlockRam(width, depth=depth, cells=cells, registered=False)
        self.kind = f"word_queue_{width}"
        super().__init__({"i": In(stream.Signature(payload)), "any": Out(1), "take": In(1), "taken": Out(payload)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        ram = self.ram
        m.submodules.ram = place(ram, platform)
        came = Signal()
        left = Signal()
        m.d.sync += left.eq(self.take)
        room = Credit(m, self.depth, name="room", full=True, give=left, take=came)
        held = Credit(m, self.depth, name="held", full=False, give=came, take=self.take)
        newest = Signal(range(self.depth))
        oldest = Signal(range(self.depth))
        m.d.comb += [
            came.eq(self.i.valid & room.any),
            self.i.ready.eq(room.any),
            self.any.eq(held.any),
            ram.write.eq(came),
            ram.write_address.eq(newest),
            ram.write_data.eq(Value.cast(self.i.payload)),
            ram.read.eq(held.any),
            ram.read_address.eq(oldest),
            Value.cast(self.taken).eq(ram.read_data),
        ]
        with m.If(came):
            m.d.sync += newest.eq(newest + 1)
        with m.If(self.take):
            m.d.sync += oldest.eq(oldest + 1)
        return m
