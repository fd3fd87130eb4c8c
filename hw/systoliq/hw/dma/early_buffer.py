"""A stream's end for a receiver that takes a payload a cycle before it uses it."""

from __future__ import annotations

from amaranth.hdl import Array, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ..credit import Credit

__all__ = ["EarlyBuffer"]


class EarlyBuffer(wiring.Component):
    """Holds two payloads, passes one a cycle. Reset empties it.

    ``any``, a register: there is one that was not taken. ``take``, only where there is: it is in ``taken`` in the next
    cycle, and anything is in the others. So what decides on ``take`` reaches a few registers, and no payload.
    """

    def __init__(self, shape: object, *, kind: str) -> None:
        self.kind = kind
        super().__init__({"i": In(stream.Signature(shape)), "any": Out(1), "take": In(1), "taken": Out(shape)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        places = Array(Signal(self.taken.shape(), name=f"place_{index}", reset_less=True) for index in range(2))
        put = Signal()
        newest = Signal()
        oldest = Signal()
        shown = Signal()
        room = Credit(m, 2, name="room", full=True, give=self.take, take=put)
        held = Credit(m, 2, name="held", full=False, give=put, take=self.take)
        m.d.comb += [
            self.i.ready.eq(room.any),
            put.eq(self.i.valid & room.any),
            self.any.eq(held.any),
            self.taken.eq(places[shown]),
        ]
        # A place is written again at the end of the cycle after it was taken at the earliest: it is read in that one.
        m.d.sync += [newest.eq(newest ^ put), oldest.eq(oldest ^ self.take), shown.eq(oldest)]
        with m.If(put):
            m.d.sync += places[newest].eq(self.i.payload)
        return m
