"""The status of the engine: what was commanded, and what became of it."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .registers import ERRORS

__all__ = ["Status"]

_START_WHILE_BUSY = ERRORS["START_WHILE_BUSY"][0]


class Status(wiring.Component):
    """Makes commands of writes to CONTROL (``write`` and the three bits, in one cycle), and reports how the job goes.

    ``core_start`` and ``core_clear`` are pulses of one cycle from registers, two cycles and one after the write; reset
    makes a ``core_clear`` too, in the cycle after it. A job runs from its start until it is done or cleared; it is done
    once ``core_done`` came and ``drained`` says that its last result was taken. ``busy`` is 1 while a job runs, results
    leave, or a clear does; a failed job runs until it is cleared, and is never done.

    ``error`` is the first fatal code of ``core_error``, which only clear forgets; where there is none, it is
    START_WHILE_BUSY after a start that came while ``busy``, until acknowledge or a fatal code. ``done`` is forgotten by
    acknowledge, by clear, and by the start of the next job. With clear, start always comes while busy.
    """

    kind = "status"

    def __init__(self) -> None:
        super().__init__(
            {
                "write": In(1),
                "start": In(1),
                "clear": In(1),
                "acknowledge": In(1),
                "core_start": Out(1),
                "core_clear": Out(1),
                "core_done": In(1),
                "core_error": In(8),
                "drained": In(1),
                "busy": Out(1),
                "done": Out(1),
                "error": Out(8),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        start, clear, acknowledge = Signal(), Signal(init=1), Signal()
        m.d.sync += [
            start.eq(self.write & self.start),
            clear.eq(self.write & self.clear),
            acknowledge.eq(self.write & self.acknowledge),
        ]
        starting = Signal()
        running = Signal()
        finished = Signal()  # by the core; results may still be on their way
        done = Signal()
        error = Signal(8)
        fails = Signal()
        ends = Signal()
        fatal: Value = (error != 0) & (error != _START_WHILE_BUSY)
        accepted = start & ~self.busy
        m.d.comb += [
            self.core_start.eq(starting),
            self.core_clear.eq(clear),
            self.busy.eq(running | clear | ~self.drained),
            self.done.eq(done),
            self.error.eq(error),
            fails.eq(self.core_error != 0),
            ends.eq(running & finished & self.drained & ~fatal & ~fails),
        ]
        m.d.sync += [starting.eq(accepted), finished.eq((finished | self.core_done) & running)]
        with m.If(accepted):
            m.d.sync += [running.eq(1), done.eq(0)]
        with m.Elif(ends):
            m.d.sync += [running.eq(0), done.eq(1), finished.eq(0)]
        with m.Elif(acknowledge):
            m.d.sync += done.eq(0)

        with m.If(~fatal):
            with m.If(fails):
                m.d.sync += error.eq(self.core_error)
            with m.Elif(start & self.busy):
                m.d.sync += error.eq(_START_WHILE_BUSY)
            with m.Elif(acknowledge):
                m.d.sync += error.eq(0)
        with m.If(clear):
            m.d.sync += [
                running.eq(0),
                finished.eq(0),
                done.eq(0),
                error.eq(Mux(start, _START_WHILE_BUSY, 0)),
            ]
        return m
