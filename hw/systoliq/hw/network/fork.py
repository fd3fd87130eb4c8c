"""Fork: one stream as several; each output takes every beat at its own time."""

from __future__ import annotations

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ..timeline import Steps, Timeline

__all__ = ["Fork", "fork_timed"]


class Fork(wiring.Component):
    """Gives each beat of ``i`` to all of ``ways`` outputs, ``o_0`` and on; the next beat comes when all have taken it.

    An output never waits for another output to be ready: offers do not depend on each other.
    """

    moves_bits = True

    def __init__(self, payload: object, *, ways: int) -> None:
        self.ways = ways
        self.kind = f"fork_{ways}_of_{Value.cast(Signal(payload)).shape().width}"
        signature = stream.Signature(payload)
        super().__init__({"i": In(signature), **{f"o_{way}": Out(signature) for way in range(ways)}})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        done = Signal(self.ways)  # the ways that have taken the beat at hand
        took = Signal(self.ways)
        for way in range(self.ways):
            out = getattr(self, f"o_{way}")
            m.d.comb += [
                out.valid.eq(self.i.valid & ~done[way]),
                out.payload.eq(self.i.payload),
                took[way].eq(done[way] | out.ready),
            ]
        m.d.comb += self.i.ready.eq(took.all())
        with m.If(self.i.valid):
            for way in range(self.ways):
                m.d.sync += done[way].eq(took[way] & ~took.all())
        return m


def fork_timed(line: Timeline, taken: Steps, *, ways: int) -> list[Steps]:
    """Return the beats of each output of a `Fork`; ``taken`` must wait for no taker yet."""
    made = [line.steps(len(taken)) for _ in range(ways)]
    for way in made:
        way.offered_like(taken)
    for way in made:
        way.after(taken, 1, lag=1)
        taken.after(way, 0)
    return made
