"""Proofs of the engine's status: the queue of jobs, and the values that software reads."""

from __future__ import annotations

import dataclasses

from amaranth.hdl import Assert, Assume, Cat, Cover, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from systoliq.hw.engine.registers import ERRORS
from systoliq.hw.engine.status import Status

from ..property import Property, SeededBug, Unbounded

__all__ = ["PROPERTIES"]

_QUEUE_FULL = ERRORS["QUEUE_FULL"][0]


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Around:
    """The surroundings of the status: commands, a cycle after they were written, and the core."""

    start: Signal
    clear: Signal
    acknowledge: Signal
    core_busy: Signal
    leaving: Signal  # results of an ended job may be leaving
    cleared: Signal  # the rest of a frame after a clear may be leaving
    fatal: Signal  # first fatal code since the last clear
    started: Signal  # not the first cycle


class StatusHarness(wiring.Component):
    """`Status` with a core that ends or fails at any time, and results that take any time to leave.

    ``aspect`` selects the claim: "error", "queue", "busy" or "done".
    """

    def __init__(self, aspect: str) -> None:
        self._aspect = aspect
        super().__init__(
            {
                name: In(8 if name == "core_error" else 1)
                for name in ("write", "start", "clear", "acknowledge", "core_done", "core_error", "drained")
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.dut = dut = Status()
        for name in self.signature.members:
            m.d.comb += getattr(dut, name).eq(getattr(self, name))
        around = _Around(
            start=Signal(),
            clear=Signal(init=1),  # reset clears
            acknowledge=Signal(),
            core_busy=Signal(),
            leaving=Signal(),
            cleared=Signal(),
            fatal=Signal(8),
            started=Signal(),
        )
        for name in ("start", "clear", "acknowledge"):
            m.d.sync += getattr(around, name).eq(self.write & getattr(self, name))
        m.d.sync += around.started.eq(1)
        self._core(m, dut, around)
        checks = {
            "error": self._check_error,
            "queue": self._check_queue,
            "busy": self._check_busy,
            "done": self._check_done,
        }
        checks[self._aspect](m, dut, around)
        return m

    def _core(self, m: Module, dut: Status, around: _Around) -> None:
        """The core: busy from a start on; then it ends, or fails and stands until the clear.

        A job ends after the results of the one before have left: they go the same way.
        """
        core_busy, leaving, cleared, fatal = around.core_busy, around.leaving, around.cleared, around.fatal
        drained_before, flows_before = Signal(), Signal()
        with m.If(self.core_done):
            m.d.sync += leaving.eq(1)
        with m.Elif(self.drained):
            m.d.sync += leaving.eq(0)
        with m.If(self.drained):
            m.d.sync += cleared.eq(0)
        with m.If(dut.core_start):
            m.d.sync += core_busy.eq(1)
        with m.Elif(self.core_done):
            m.d.sync += core_busy.eq(0)
        with m.If(fatal == 0):
            m.d.sync += fatal.eq(self.core_error)
        with m.If(dut.core_clear):
            m.d.sync += [core_busy.eq(0), leaving.eq(0), cleared.eq(1), fatal.eq(0)]
        m.d.sync += [drained_before.eq(self.drained), flows_before.eq(core_busy | dut.core_clear)]
        m.d.comb += [
            Assume(~self.core_done | (core_busy & (fatal == 0) & (self.core_error == 0) & ~leaving)),
            Assume((self.core_error == 0) | core_busy | dut.core_start),
            Assume(self.core_error != _QUEUE_FULL),
            # New results start to leave only after the core gave some, or a clear completes a frame.
            Assume(self.drained | ~drained_before | flows_before),
        ]
        with m.If(~around.started):
            m.d.comb += Assume(self.drained)

    def _check_error(self, m: Module, dut: Status, around: _Around) -> None:
        """The first fatal code once the job before has ended, or a start too many, as long as it is not forgotten."""
        fatal = around.fatal
        early = Signal()  # a start that found the queue full was not forgotten yet
        with m.If((around.start & dut.queued) | around.clear):
            m.d.sync += early.eq(around.start)
        with m.Elif(around.acknowledge):
            m.d.sync += early.eq(0)
        with m.If(fatal != 0):
            m.d.comb += Assert(dut.error == Mux(around.leaving, 0, fatal))
        with m.Else():
            m.d.comb += Assert(dut.error == Mux(early, _QUEUE_FULL, 0))
        m.d.comb += [
            Cover((fatal != 0) & early & (dut.error != 0)),
            Cover((fatal != 0) & around.leaving),
            Cover((self.core_error != 0) & around.acknowledge),
            Cover(around.clear & early),
        ]

    def _check_queue(self, m: Module, dut: Status, around: _Around) -> None:
        """A start queues a job unless one is; it is loaded when the core is free, and starts it a cycle later."""
        start, clear, core_busy, fatal = around.start, around.clear, around.core_busy, around.fatal
        queued, loaded = Signal(), Signal()
        with m.If(dut.load | clear):
            m.d.sync += queued.eq(0)  # a start that comes now finds the queue full
        with m.Elif(start):
            m.d.sync += queued.eq(1)
        m.d.sync += loaded.eq(dut.load & ~clear)
        free = ~core_busy & ~dut.core_start & ~around.cleared & (fatal == 0)
        m.d.comb += [
            Assert(dut.queued == queued),
            Assert(dut.load == (queued & free)),
            Assert(dut.core_start == loaded),
            Assert(dut.core_clear == clear),
            Assert(dut.closes == (self.write & self.clear)),
            Assert(dut.first == (start & ~dut.busy)),
        ]
        with m.If(dut.core_start):
            m.d.comb += [Assert(~core_busy & (fatal == 0)), Assert(self.drained | around.leaving)]
        m.d.comb += [Cover(dut.core_start & around.leaving), Cover(start & around.cleared & ~self.drained)]

    def _check_busy(self, m: Module, dut: Status, around: _Around) -> None:
        """Check ``busy``, and that ``more`` is set if a job follows the one whose results leave."""
        clear, core_busy, leaving = around.clear, around.core_busy, around.leaving
        something = dut.queued | dut.core_start | core_busy | leaving | ~self.drained | clear | (around.fatal != 0)
        m.d.comb += Assert(~something | dut.busy)
        commanded, busy_before = Signal(2), Signal()  # in the last two cycles
        m.d.sync += [
            busy_before.eq(dut.busy),
            commanded.eq(Cat(self.write & (self.start | self.clear), commanded[0])),
        ]
        with m.If(dut.busy & ~busy_before & around.started):
            m.d.comb += Assert(commanded != 0)
        rests = Signal()  # there is nothing to wait for
        m.d.sync += rests.eq(~(something | around.start))
        with m.If(rests & ~something):
            m.d.comb += Assert(~dut.busy)
        with m.If(leaving):
            m.d.comb += Assert(dut.more == (dut.queued | dut.core_start | core_busy))
        with m.Else():
            m.d.comb += Assert(dut.more == dut.queued)
        m.d.comb += [Cover(dut.core_clear & core_busy), Cover(leaving & core_busy), Cover(rests & dut.done)]

    def _check_done(self, m: Module, dut: Status, around: _Around) -> None:
        """Check when ``done`` is set and cleared, and that each job that ended is counted once."""
        clear = around.clear
        ended, forgotten, done_before = Signal(), Signal(), Signal()
        jobs = Signal.like(dut.jobs)
        m.d.sync += [
            done_before.eq(dut.done),
            ended.eq(around.leaving & self.drained & ~clear),
            forgotten.eq(around.acknowledge | clear | dut.first),
            jobs.eq(Mux(clear, 0, jobs + (around.leaving & self.drained))),
        ]
        m.d.comb += [Assert(dut.jobs == jobs), Assert(dut.done == (ended | (done_before & ~forgotten)))]
        m.d.comb += [
            Cover(dut.done & ~done_before & (jobs == 2)),
            Cover(around.leaving & ~self.drained),
            Cover(forgotten & ended),
        ]


def _status(aspect: str, claim: str, old: str, new: str) -> Property:
    return Property(
        name=f"engine status: {aspect}",
        claim=claim,
        harness=lambda: StatusHarness(aspect),
        method=Unbounded(cover_cycles=12),
        bug=SeededBug(module="engine.status", old=old, new=new),
        quick=True,
    )


PROPERTIES = (
    _status(
        "error",
        "the first fatal code stays until clear, whatever comes with it, and waits for the job before; QUEUE_FULL as "
        "documented",
        old="with m.If(fails):",
        new="with m.If(fails & ~acknowledge):",
    ),
    _status(
        "queue",
        "one job is queued and none is lost; it is loaded as soon as the core is free, after a clear when all has "
        "left, and never while another one runs or after an error",
        old="cleared.eq(cleared & ~self.drained)",
        new="cleared.eq(0)",
    ),
    _status(
        "busy",
        "busy says exactly whether there is anything to wait for, and rises at most two cycles after a command",
        old="running | clear | ~self.drained",
        new="running | clear",
    ),
    _status(
        "done",
        "done comes when a job has ended and its last result was taken, and goes as documented; each job counts once",
        old="ends.eq(leaving & self.drained)",
        new="ends.eq(leaving)",
    ),
)
