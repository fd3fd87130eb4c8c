"""FIFO: payloads that wait, in a memory with its output register."""

from __future__ import annotations

from amaranth.hdl import Module, Shape, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from .block_ram import SMALL, BlockRam
from .credit import Credit
from .hierarchy import place
from .memory_readout import memory_readout, readout_timed
from .timeline import Steps, Timeline

__all__ = ["Fifo"]


class Fifo(wiring.Component):
    """Gives the payloads of ``i`` in their order. Takes ``depth`` of them, a power of two, before the first must leave.

    A payload is offered ``latency`` cycles after it was taken, one a cycle each way. ``i.ready`` and ``o.valid`` are
    registers.

    With ``late``, ``o.ready`` may come late in the cycle, as a memory's bus gives it: it reaches a register alone, so a
    place is free a cycle later, and also a small memory has its output register. A ``depth`` of 2 is then too small for
    a payload a cycle.
    """

    moves_bits = True

    def __init__(self, payload: object, *, depth: int, cells: str, late: bool = False) -> None:
        if depth < 2 or depth & (depth - 1):
            raise ValueError(f"depth must be a power of two from 2 on, not {depth!r}")
        width = Shape.cast(payload).width
        self.depth = depth
        self.cells = cells
        self.late = late
        self.ram = BlockRam(width, depth=depth, cells=cells, registered=late or depth > SMALL)
        self.kind = f"late_fifo_{depth}x{width}" if late else f"fifo_{depth}x{width}"
        super().__init__({"i": In(stream.Signature(payload)), "o": Out(stream.Signature(payload))})

    @property
    def latency(self) -> int:
        """Cycles until a payload is offered, if none is before it."""
        return 1 + self.ram.latency

    @property
    def holds(self) -> int:
        """Payloads inside when it is full and none leaves: ``depth``, and those on the way out of the memory."""
        return self.depth + self.ram.latency

    def timed(self, line: Timeline, taken: Steps) -> Steps:
        """Return the payloads that leave."""
        fetched = line.following(taken, 1)
        taken.after(fetched, 2 if self.late else 1, lag=self.depth)
        return readout_timed(line, fetched, latency=self.ram.latency)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        ram = self.ram
        m.submodules.ram = place(ram, platform)
        came = Signal()
        fetched = Signal()
        free = fetched
        if self.late:
            free = Signal()
            m.d.sync += free.eq(fetched)
        room = Credit(m, self.depth, name="room", full=True, give=free, take=came)
        there = Credit(m, self.depth, name="there", full=False, give=came, take=fetched)
        out = memory_readout(m, available=there.any, ready=self.o.ready, latency=ram.latency)
        newest = Signal(range(self.depth))
        oldest = Signal(range(self.depth))
        m.d.comb += [
            came.eq(self.i.valid & room.any),
            fetched.eq(out.fetch),
            self.i.ready.eq(room.any),
            ram.write.eq(came),
            ram.write_address.eq(newest),
            ram.write_data.eq(Value.cast(self.i.payload)),
            ram.read.eq(out.read),
            ram.read_address.eq(oldest),
            ram.show.eq(out.show),
            self.o.valid.eq(out.valid),
            Value.cast(self.o.payload).eq(ram.read_data),
        ]
        with m.If(came):
            m.d.sync += newest.eq(newest + 1)
        with m.If(fetched):
            m.d.sync += oldest.eq(oldest + 1)
        return m
