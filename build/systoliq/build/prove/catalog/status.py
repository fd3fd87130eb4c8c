"""Proofs of the engine's status: what software reads of the job under way."""

from __future__ import annotations

import dataclasses

from amaranth.hdl import Assert, Assume, Cat, Cover, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from systoliq.hw.engine.registers import ERRORS
from systoliq.hw.engine.status import Status

from ..property import Property, SeededBug, Unbounded

__all__ = ["PROPERTIES"]

_START_WHILE_BUSY = ERRORS["START_WHILE_BUSY"][0]


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Around:
    """What is around the status: commands, a cycle after they were written, and the core."""

    start: Signal
    clear: Signal
    acknowledge: Signal
    core_busy: Signal
    completed: Signal  # results of a job that ended may still be on their way
    fatal: Signal  # the first since the last clear
    started: Signal  # not the first cycle


class StatusHarness(wiring.Component):
    """`Status` before a core that ends or fails when it likes, and results that take their time to leave.

    ``aspect`` names what is proven: "error", "start" or "done".
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
            completed=Signal(),
            fatal=Signal(8),
            started=Signal(),
        )
        for name in ("start", "clear", "acknowledge"):
            m.d.sync += getattr(around, name).eq(self.write & getattr(self, name))
        m.d.sync += around.started.eq(1)
        self._core(m, dut, around)
        {"error": self._check_error, "start": self._check_start, "done": self._check_done}[self._aspect](m, dut, around)
        return m

    def _core(self, m: Module, dut: Status, around: _Around) -> None:
        """The core: busy from a start on; then it ends, or fails and stands until the clear."""
        core_busy, completed, fatal = around.core_busy, around.completed, around.fatal
        drained_before, flows_before = Signal(), Signal()
        with m.If(dut.core_start):
            m.d.sync += [core_busy.eq(1), completed.eq(0)]
        with m.Elif(self.core_done):
            m.d.sync += [core_busy.eq(0), completed.eq(1)]
        with m.If(fatal == 0):
            m.d.sync += fatal.eq(self.core_error)
        with m.If(dut.core_clear):
            m.d.sync += [core_busy.eq(0), completed.eq(0), fatal.eq(0)]
        m.d.sync += [drained_before.eq(self.drained), flows_before.eq(core_busy | dut.core_clear)]
        m.d.comb += [
            Assume(~self.core_done | (core_busy & (fatal == 0) & (self.core_error == 0))),
            Assume((self.core_error == 0) | core_busy | dut.core_start),
            Assume(self.core_error != _START_WHILE_BUSY),
            # Nothing begins to leave but what the core gave, or a beat that a clear makes.
            Assume(self.drained | ~drained_before | flows_before),
        ]
        with m.If(~around.started):
            m.d.comb += Assume(self.drained)

    def _check_error(self, m: Module, dut: Status, around: _Around) -> None:
        """The first fatal code, or a start while busy, as long as it is not forgotten."""
        fatal = around.fatal
        early = Signal()  # a start that came while busy was not forgotten yet
        with m.If((around.start & dut.busy) | around.clear):
            m.d.sync += early.eq(around.start)
        with m.Elif(around.acknowledge):
            m.d.sync += early.eq(0)
        with m.If(fatal != 0):
            m.d.comb += Assert(dut.error == fatal)
        with m.Else():
            m.d.comb += Assert(dut.error == Mux(early, _START_WHILE_BUSY, 0))
        m.d.comb += [
            Cover((fatal != 0) & early),
            Cover((self.core_error != 0) & around.acknowledge),
            Cover(around.clear & early),
        ]

    def _check_start(self, m: Module, dut: Status, around: _Around) -> None:
        """When the core is started and cleared, and when the status is busy."""
        start, clear, core_busy, fatal = around.start, around.clear, around.core_busy, around.fatal
        asked, cleared, busy_before = Signal(), Signal(), Signal()
        m.d.sync += [asked.eq(start & ~dut.busy), cleared.eq(clear), busy_before.eq(dut.busy)]
        m.d.comb += [Assert(dut.core_start == asked), Assert(dut.core_clear == clear)]
        with m.If(dut.core_start):
            m.d.comb += [Assert(~core_busy & (fatal == 0)), Assert(self.drained & ~cleared)]
        with m.If(dut.core_start | core_busy | ~self.drained | clear | (fatal != 0)):
            m.d.comb += Assert(dut.busy)
        commanded = Signal(2)  # in the last two cycles
        m.d.sync += commanded.eq(Cat(self.write & (self.start | self.clear), commanded[0]))
        with m.If(dut.busy & ~busy_before & around.started):
            m.d.comb += Assert(commanded != 0)
        rests = Signal()  # there is nothing to wait for
        m.d.sync += rests.eq(~(dut.core_start | core_busy | ~self.drained | clear | start | (fatal != 0)))
        with m.If(rests & ~dut.core_start & self.drained & ~clear):
            m.d.comb += Assert(~dut.busy)
        m.d.comb += [Cover(dut.core_start & dut.core_clear), Cover(start & ~self.drained)]

    def _check_done(self, m: Module, dut: Status, around: _Around) -> None:
        """When done comes, and when it goes."""
        clear, fatal = around.clear, around.fatal
        done_before, complete_before, forgotten = Signal(), Signal(), Signal()
        m.d.sync += [
            done_before.eq(dut.done),
            complete_before.eq(around.completed & self.drained & ~clear & ~dut.core_start),
            forgotten.eq(around.acknowledge | clear | (around.start & ~dut.busy)),
        ]
        waiting = Signal()  # a job that ended has not been reported
        with m.If(dut.core_start):
            m.d.sync += waiting.eq(1)
        with m.Elif(clear | (dut.done & ~done_before)):
            m.d.sync += waiting.eq(0)
        with m.If(dut.done & ~done_before):
            m.d.comb += Assert(complete_before & waiting & (clear | ~dut.busy))
        with m.If(~dut.done & done_before):
            m.d.comb += Assert(forgotten)
        with m.If(forgotten & ~complete_before):
            m.d.comb += Assert(~dut.done)
        with m.If(complete_before & waiting & (fatal == 0)):
            m.d.comb += Assert(dut.done)
        with m.If(fatal != 0):
            m.d.comb += Assert(~dut.done)
        m.d.comb += [
            Cover(dut.done & ~done_before),
            Cover(around.completed & ~self.drained),
            Cover(forgotten & dut.done),
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
        "the first fatal code stays until clear, whatever comes with it; START_WHILE_BUSY as documented",
        old="with m.If(fails):",
        new="with m.If(fails & ~acknowledge):",
    ),
    _status(
        "start",
        "the core is started only where it is free and all results have left; busy says exactly when it is not, and "
        "rises at most two cycles after a command",
        old="running | clear | ~self.drained",
        new="running | clear",
    ),
    _status(
        "done",
        "done comes when the job has ended and its last result was taken, and goes as documented",
        old="ends.eq(running & finished & self.drained",
        new="ends.eq(running & finished",
    ),
)
