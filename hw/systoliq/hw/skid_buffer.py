"""A skid buffer: a stream's end in registers, in both directions."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from .timeline import Steps, Timeline

__all__ = ["SkidBuffer", "skid_timed"]


class SkidBuffer(wiring.Component):
    """Holds up to two payloads, passes one a cycle; one leaves ``latency`` cycles after it came. Reset empties it.

    No output depends on an input of the same cycle. A payload that arrives in the cycle in which the receiver stops is
    stored in a second register, and ``i.ready`` is 0 while that register is full.
    """

    kind = "skid_buffer"
    latency = 1

    def __init__(self, shape: object, *, kind: str = "skid_buffer") -> None:
        self.kind = kind
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        offered = Signal(self.i.payload.shape(), reset_less=True)
        kept = Signal.like(offered)
        offers = Signal()
        keeps = Signal()
        m.d.comb += [
            self.o.valid.eq(offers),
            self.o.payload.eq(offered),
            self.i.ready.eq(~keeps),
        ]
        waits = offers & ~self.o.ready
        m.d.sync += [offers.eq(self.i.valid | keeps | waits), keeps.eq(waits & (self.i.valid | keeps))]
        with m.If(~waits):
            m.d.sync += offered.eq(Mux(keeps, kept, self.i.payload))
        with m.If(~keeps):
            m.d.sync += kept.eq(self.i.payload)
        return m


def skid_timed(line: Timeline, taken: Steps) -> Steps:
    """Return the payloads that leave a `SkidBuffer`, from those that it has ``taken``."""
    left = line.following(taken, SkidBuffer.latency)
    taken.after(left, 1, lag=2)
    return left
