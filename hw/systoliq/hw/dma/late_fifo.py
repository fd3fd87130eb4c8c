"""FIFO of the masters: a place is free a cycle later, so that the memory bus does not lengthen a path."""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ..block_ram import BlockRam
from ..credit import Credit
from ..hierarchy import place
from ..memory_readout import memory_readout

__all__ = ["LateFifo"]


class LateFifo(wiring.Component):
    """``depth`` (a power of two) payloads, in order, one a cycle each way; reset empties it.

    A payload is offered ``latency`` cycles after it was taken. ``i.ready`` and ``o.valid`` are registers.

    A component of its own, and not `hw.fifo.Fifo`: there, a payload that is fetched frees its place in the same cycle,
    so ``o.ready`` reaches the counter behind ``i.ready``. In a master, ``o.ready`` comes from far, the bus of the
    memory; here it only reaches a register, and the place is free a cycle later. A shallow memory has its output
    register, too. amaranth.lib.fifo reads without one.
    """

    def __init__(self, shape: object, *, depth: int, cells: str, kind: str) -> None:
        if depth < 2 or depth & (depth - 1):
            raise ValueError(f"depth must be a power of two, and 2 at the least, not {depth!r}")
        self.depth = depth
        self.cells = cells
        self.kind = kind
        self.ram = BlockRam(shape, depth=depth, cells=cells)
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape))})

    @property
    def latency(self) -> int:
        """Cycles until a payload is offered, if none is before it."""
        return 1 + self.ram.latency

    @property
    def holds(self) -> int:
        """Payloads inside when it is full and none leaves: ``depth``, and those on the way out of the memory."""
        return self.depth + self.ram.latency

    def elaborate(self, platform: object) -> Module:
        m = Module()
        ram = self.ram
        m.submodules.ram = place(ram, platform)
        put = Signal()
        fetch = Signal()
        fetched = Signal()
        m.d.sync += fetched.eq(fetch)  # a cycle later does: what decides on it comes from far
        room = Credit(m, self.depth, name="room", full=True, give=fetched, take=put)
        held = Credit(m, self.depth, name="held", full=False, give=put, take=fetch)
        out = memory_readout(m, available=held.any, ready=self.o.ready, latency=ram.latency)
        newest, oldest = (Signal(range(self.depth), name=name) for name in ("newest", "oldest"))
        m.d.comb += [
            self.i.ready.eq(room.any),
            put.eq(self.i.valid & room.any),
            fetch.eq(out.fetch),
            self.o.valid.eq(out.valid),
            ram.write.eq(put),
            ram.write_address.eq(newest),
            ram.write_data.eq(self.i.payload),
            ram.read.eq(fetch),
            ram.read_address.eq(oldest),
            ram.show.eq(out.show),
            self.o.payload.eq(ram.read_data),
        ]
        m.d.sync += [newest.eq(newest + put), oldest.eq(oldest + fetch)]
        return m
