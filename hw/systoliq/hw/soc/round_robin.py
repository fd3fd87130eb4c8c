"""Round robin: whose turn it is."""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["RoundRobin"]


class RoundRobin(wiring.Component):
    """A round-robin choice among ``asks``, one bit each: ``who`` is the next requester after the one ``taken`` last,
    and ``any`` is 1 if there is one.

    Once offered, ``who`` stays until it is ``taken``, as a bus requires; a requester must not withdraw its request.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.kind = f"round_robin_{count}"
        super().__init__({"asks": In(count), "taken": In(1), "any": Out(1), "who": Out(range(count))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        last = Signal(range(self.count))
        kept = Signal(range(self.count), reset_less=True)
        keeps = Signal()
        m.d.comb += self.any.eq(self.asks.any())
        with m.If(keeps):
            m.d.comb += self.who.eq(kept)
        with m.Else(), m.Switch(last):
            for before in range(self.count):
                with m.Case(before):
                    for distance in range(self.count, 0, -1):  # of two assignments the later one counts
                        index = (before + distance) % self.count
                        with m.If(self.asks[index]):
                            m.d.comb += self.who.eq(index)
        m.d.sync += [keeps.eq(self.any & ~self.taken), kept.eq(self.who)]
        with m.If(self.any & self.taken):
            m.d.sync += last.eq(self.who)
        return m
