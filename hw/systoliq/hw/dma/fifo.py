"""A FIFO in block RAM, whose ends come from registers."""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ..block_ram import BlockRam
from ..credit import Credit
from ..hierarchy import place
from ..memory_readout import memory_readout

__all__ = ["Fifo"]


class Fifo(wiring.Component):
    """``depth`` (a power of two) payloads, in order, one a cycle each way; reset empties it.

    ``i.ready`` and ``o.valid`` are registers. amaranth.lib.fifo reads without the memory's output register.
    """

    def __init__(self, shape: object, *, depth: int, cells: str, kind: str) -> None:
        if depth < 2 or depth & (depth - 1):
            raise ValueError(f"depth must be a power of two, and 2 at the least, not {depth!r}")
        self.depth = depth
        self.cells = cells
        self.kind = kind
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        ram = BlockRam(self.i.payload.shape(), depth=self.depth, cells=self.cells)
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
