"""The status of the engine: the queue of jobs, commands, and results of jobs."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .registers import ERRORS

__all__ = ["JOBS_BITS", "Status"]

JOBS_BITS = 16
_QUEUE_FULL = ERRORS["QUEUE_FULL"][0]


class Status(wiring.Component):
    """Makes commands of writes to CONTROL (``write`` and the three bits, in one cycle), and reports how the jobs go.

    A start queues a job; ``queued`` says that one waits, ``offer`` that it will run unless there is a clear: none of
    those before has failed, and after a clear, all has left. ``load`` takes it with its settings once the core is free
    too; ``core_start`` comes a cycle later. ``core_clear`` comes a cycle after the write; reset makes one too, in the
    cycle after it. While a job runs, results of the one before may leave. A job ends, and counts in ``jobs``, when
    ``core_done`` came and ``drained`` says that its last result was taken. ``closes`` comes in the cycle before a
    ``core_clear`` that a write makes.
    ``busy`` is 1 while a job is queued or runs, results leave, or a clear does; a failed job runs until it is cleared.

    ``first`` marks a start that found nothing else, and ``more`` that a job follows the one whose results leave.

    ``error`` is the first fatal code of ``core_error`` from the end of the job before on, until clear. Without a fatal
    code, it is QUEUE_FULL after a start that came while ``queued`` or with clear, until acknowledge or a fatal code.
    ``done`` comes with each job's end; it is forgotten by acknowledge, by clear, and by a start while not ``busy``.
    """

    kind = "status"
    handover = 2
    """Cycles from ``core_done`` to the ``core_start`` of the job that is queued."""

    def __init__(self) -> None:
        super().__init__(
            {
                "write": In(1),
                "start": In(1),
                "clear": In(1),
                "acknowledge": In(1),
                "offer": Out(1),
                "load": Out(1),
                "core_start": Out(1),
                "core_clear": Out(1),
                "closes": Out(1),
                "core_done": In(1),
                "core_error": In(8),
                "drained": In(1),
                "first": Out(1),
                "more": Out(1),
                "busy": Out(1),
                "done": Out(1),
                "queued": Out(1),
                "error": Out(8),
                "jobs": Out(JOBS_BITS),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        start = Signal()
        clear = Signal(init=1)
        acknowledge = Signal()
        m.d.sync += [
            start.eq(self.write & self.start),
            clear.eq(self.write & self.clear),
            acknowledge.eq(self.write & self.acknowledge),
        ]
        starting, cleared, accepted, ends = (Signal(name=name) for name in ("starting", "cleared", "accepted", "ends"))
        queued, running, leaving, done = (Signal(name=name) for name in ("queued", "running", "leaving", "done"))
        jobs = Signal(JOBS_BITS)
        error = Signal(8)
        fails = Signal()
        fatal: Value = (error != 0) & (error != _QUEUE_FULL)
        m.d.comb += [
            accepted.eq(start & ~queued),
            fails.eq(self.core_error != 0),
            ends.eq(leaving & self.drained),
            self.first.eq(start & ~self.busy),
            self.offer.eq(queued & ~cleared & ~fatal),
            self.load.eq(self.offer & ~running),
            self.core_start.eq(starting),
            self.core_clear.eq(clear),
            self.closes.eq(self.write & self.clear),
            self.more.eq(queued | (running & leaving)),
            self.busy.eq(queued | running | clear | ~self.drained | leaving),
            self.done.eq(done),
            self.queued.eq(queued),
            self.jobs.eq(jobs),
            self.error.eq(Mux(fatal & leaving, 0, error)),
        ]
        m.d.sync += [
            starting.eq(self.load & ~clear),
            queued.eq((queued & ~self.load) | accepted),
            running.eq((running & ~self.core_done) | self.load),
            leaving.eq((leaving & ~ends) | (running & self.core_done & ~fatal)),
            cleared.eq(cleared & ~self.drained),  # something of a frame may leave
        ]
        with m.If(ends):
            m.d.sync += [done.eq(1), jobs.eq(jobs + 1)]
        with m.Elif(acknowledge | self.first):
            m.d.sync += done.eq(0)

        with m.If(~fatal):
            with m.If(fails):
                m.d.sync += error.eq(self.core_error)
            with m.Elif(start & queued):
                m.d.sync += error.eq(_QUEUE_FULL)
            with m.Elif(acknowledge):
                m.d.sync += error.eq(0)
        with m.If(clear):
            m.d.sync += [
                *(each.eq(0) for each in (queued, running, leaving, done, jobs)),
                cleared.eq(1),
                error.eq(Mux(start, _QUEUE_FULL, 0)),
            ]
        return m
