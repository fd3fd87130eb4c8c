"""The check of ``last``: it may come with the last beat of a group only, or the sender counts otherwise than the layer.

Such a ``last`` ends no batch: without this check, a receiver that waits for the batch's end would wait for ever.
"""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .counter import successor

__all__ = ["LastCheck"]


class LastCheck(wiring.Component):
    """Counts the beats that are ``taken``, ``beats`` to a group.

    ``error`` is 1 from two cycles after one with ``last`` that does not end a group, until reset. ``kind`` is another
    one for each number of beats in a design.
    """

    def __init__(self, beats: int, *, kind: str = "last_check") -> None:
        self.beats = beats
        self.kind = kind
        super().__init__({"taken": In(1), "last": In(1), "error": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        beat = Signal(range(self.beats))
        taken = Signal()
        last = Signal()
        m.d.sync += [taken.eq(self.taken), last.eq(self.last)]
        with m.If(taken):
            m.d.sync += beat.eq(successor(beat, self.beats))
            with m.If(last & (beat != self.beats - 1)):
                m.d.sync += self.error.eq(1)
        return m
