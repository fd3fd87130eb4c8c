"""Owners: to whom the answers go that are under way, in order."""

from __future__ import annotations

from amaranth.hdl import Array, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["DEPTH", "Owners"]

DEPTH = 4
"""Bursts that may be under way."""


class Owners(wiring.Component):
    """A queue of numbers below ``count``, `DEPTH` at the most: ``put`` where there is ``room``, ``take`` the ``head``.

    An entry that is put into an empty queue is its head in the next cycle.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.kind = f"owners_{count}"
        number = range(count)
        super().__init__(
            {"put": In(1), "who": In(number), "room": Out(1, init=1), "take": In(1), "any": Out(1), "head": Out(number)}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        slots = Array(Signal(range(self.count), name=f"slot_{i}", reset_less=True) for i in range(DEPTH))
        newest = Signal(range(DEPTH))
        oldest = Signal(range(DEPTH))
        held = Signal(range(DEPTH + 1))
        m.d.comb += [self.head.eq(slots[oldest]), self.any.eq(held != 0), self.room.eq(held != DEPTH)]
        m.d.sync += [held.eq(held + self.put - self.take), newest.eq(newest + self.put), oldest.eq(oldest + self.take)]
        with m.If(self.put):
            m.d.sync += slots[newest].eq(self.who)
        return m
