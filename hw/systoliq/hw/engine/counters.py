"""The engine's counters: cycles of jobs, and stalled cycles."""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Counters"]


class Counters(wiring.Component):
    """Counts from the first word ``taken`` to the beat of Y that ``ended`` all, both included; ``start`` begins anew.

    ``input_stall`` and ``output_stall`` are counted apart (the former only in these cycles). Counts follow the event by
    three cycles, and wrap at 2^32.
    """

    kind = "counters"

    def __init__(self) -> None:
        super().__init__(
            {
                "start": In(1),
                "clear": In(1),
                "taken": In(1),
                "ended": In(1),
                "input_stall": In(1),
                "output_stall": In(1),
                "cycles": Out(32),
                "input_stalls": Out(32),
                "output_stalls": Out(32),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # The events come straight from the ports: they are sampled a cycle later, and counted another cycle later.
        taken = Signal()
        ended = Signal()
        input_stall = Signal()
        output_stall = Signal()
        begun = Signal()
        counting = Signal()
        m.d.comb += counting.eq(begun | taken)
        m.d.sync += [
            taken.eq(self.taken & ~self.clear),
            ended.eq(self.ended),
            input_stall.eq(self.input_stall),
            output_stall.eq(self.output_stall),
            begun.eq(counting & ~ended & ~self.clear),
        ]
        for count, counted in (
            (self.cycles, counting),
            (self.input_stalls, counting & input_stall),
            (self.output_stalls, output_stall),
        ):
            total = Signal(32)
            more = Signal()
            m.d.comb += count.eq(total)
            m.d.sync += [more.eq(counted), total.eq(total + more)]
            with m.If(self.start):
                m.d.sync += total.eq(0)
        return m
