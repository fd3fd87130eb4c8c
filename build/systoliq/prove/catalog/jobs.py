"""Proofs of the engine's jobs: the handover from one job to the next, and that each job ends."""

from __future__ import annotations

from typing import Any, cast

from amaranth.hdl import Assert, Assume, Cat, Const, Cover, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from systoliq.hw.engine.config import EngineConfig
from systoliq.hw.engine.core import EngineCore
from systoliq.hw.hierarchy import mark_used, place

from ..property import Property, SeededBug, Unbounded
from .drain import LENGTH_BITS, DrainWalk, PromptDrainControl, small_engine

__all__ = ["PROPERTIES"]

_FREE = ("a_there", "b_there", "credit", "leaves", "may_begin", "wrong")


class _AnyIntake(wiring.Component):
    """An intake that begins a job, or fails, whenever the solver likes after the job's start; see the intake's proofs.

    Jobs are right: M, K and N are not 0.
    """

    kind = "any_intake"

    def __init__(self, signature: wiring.Signature) -> None:
        super().__init__({**signature.members, "may_begin": In(1), "wrong": In(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        waits, begins = Signal(), Signal()
        m.d.comb += begins.eq((waits | self.start) & self.may_begin)
        m.d.sync += [
            waits.eq((waits | self.start) & ~begins),
            self.begin.eq(begins),
            self.failed.eq(self.failed | self.wrong),
        ]
        return m


class _LastResult(wiring.Component):
    """A result buffer reduced to the end of a job: its last result leaves some cycle after it came.

    The solver selects when there is credit, and how long results stay: any real buffer is a special case.
    """

    kind = "last_result"

    def __init__(self, y: Any) -> None:
        super().__init__({"came": In(1), "leaves": In(1), "inside": Out(1), "o": Out(stream.Signature(y))})
        self.reserve, self.credit = Signal(), Signal()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        with m.If(self.came):
            m.d.sync += self.inside.eq(1)
        with m.Elif(self.o.valid & self.o.ready):
            m.d.sync += self.inside.eq(0)
        m.d.comb += [self.o.valid.eq(self.inside & self.leaves), self.o.payload.flags.last.eq(1)]
        return m


class ControlOfJobs(EngineCore):
    """The real core without the data: operands arrive and results leave whenever the solver likes.

    The end of a job, the dataflow with all its loops, and the drain control are real. A delay of at least one cycle
    replaces the lanes and the result buffer, which always take that long.
    """

    def __init__(self, config: EngineConfig) -> None:
        super().__init__(config)
        for part in (*self.lanes, self.result_buffer):
            mark_used(part)
        self.result_buffer = cast(Any, _LastResult(self.result_buffer.o.payload.shape()))
        self.control = PromptDrainControl(config, rows=self.dataflow.slot_rows, per_slot=self.dataflow.per_slot)
        self.intake = cast(Any, _AnyIntake(self.intake.signature))
        self.a_there, self.b_there, self.credit, self.leaves = (Signal(name=name) for name in _FREE[:4])
        self.may_begin, self.wrong = self.intake.may_begin, self.intake.wrong

    def _load(self, m: Module, platform: object) -> None:
        m.d.comb += [self.dataflow.a_coming.eq(self.a_there), self.dataflow.b_coming.eq(self.b_there)]

    def _drain(self, m: Module, platform: object, begin: Value) -> None:
        job, control, buffer = self.job, self.control, cast(Any, self.result_buffer)
        m.submodules.drain_control = place(control, platform)
        m.d.comb += [
            control.begin.eq(begin),
            control.start.eq(self.dataflow.drain),
            control.m.eq(job.m),
            control.k.eq(job.k),
            control.n.eq(job.n),
            control.first_column.eq(job.first_column),
            buffer.credit.eq(self.credit),
            buffer.came.eq(control.step.push & control.step.last),
            buffer.leaves.eq(self.leaves),
        ]


class JobsHarness(wiring.Component):
    """Jobs one after the other; M, K and N are free until a job's start and after its ``done``.

    The drain is held against a walk over tiles, slots and steps that begins anew with every job. ``prompt``: operands
    are always available, results leave at once, and a job must end within this number of cycles.
    """

    def __init__(self, config: EngineConfig, *, short: bool = False, prompt: int = 0) -> None:
        self._config, self._short, self._prompt = config, short, prompt
        lengths = {name: In(1 if short else LENGTH_BITS) for name in ("m", "k", "n")}
        super().__init__({**lengths, "start": In(1), **{name: In(1) for name in _FREE}})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        m.submodules.core = core = ControlOfJobs(config)
        dataflow, step = core.dataflow, core.control.step
        rows_of_job, k, columns_of_job = (Signal(LENGTH_BITS, name=f"job_{name}") for name in ("m", "k", "n"))
        for length, value in ((rows_of_job, self.m), (k, self.k), (columns_of_job, self.n)):
            m.d.comb += length.eq(value + self._short)
        lengths = Cat(rows_of_job, k, columns_of_job)
        before, busy = Signal.like(lengths), Signal()
        m.d.sync += [before.eq(lengths), busy.eq((busy | self.start) & ~core.done)]
        m.d.comb += [
            core.job.m.eq(rows_of_job),
            core.job.k.eq(k),
            core.job.n.eq(columns_of_job),
            *(getattr(core, name).eq(1 if self._prompt else getattr(self, name)) for name in _FREE[:-1]),
            core.wrong.eq(0 if self._prompt else self.wrong),
            core.start.eq(self.start),
            core.y.ready.eq(1),
            Assume(~busy | (lengths == before)),
            Assume(~self.start | (~busy & rows_of_job.any() & k.any() & columns_of_job.any())),
        ]
        walk = DrainWalk(
            config,
            rows=dataflow.slot_rows,
            per_slot=dataflow.per_slot,
            rows_of_job=rows_of_job,
            columns_of_job=columns_of_job,
            first_column=Const(0),
        )
        walk.advance(m, dataflow.start, dataflow.drain)
        walk.check(m, step)
        whole = Signal()  # the last result of a job has come, and the job has not ended
        with m.If(walk.last):
            m.d.sync += whole.eq(1)
        with m.Elif(core.done):
            m.d.sync += whole.eq(0)
        m.d.comb += [Assert(~dataflow.start | ~whole), Assert(~core.done | whole)]

        # The array: two tiles' last beats, of one job or of two, are far enough apart; at a job's end it is free.
        age = Signal(range(dataflow.drain_cycles + 1), init=dataflow.drain_cycles)
        old = age == dataflow.drain_cycles
        with m.If(dataflow.reserve):
            m.d.sync += age.eq(1)
        with m.Elif(~old):
            m.d.sync += age.eq(age + 1)
        m.d.comb += [Assert(~dataflow.reserve | old), Assert(~core.done | old)]

        jobs = Signal(2)
        m.d.sync += jobs.eq(jobs + (core.done & (jobs != 3)))
        m.d.comb += Cover((jobs == 1) & core.done)
        if self._prompt:
            waited = Signal(range(self._prompt + 2))
            m.d.sync += waited.eq(Mux(busy & ~core.done & ~core.failed, waited + 1, 0))
            m.d.comb += Assert(waited <= self._prompt)
        return m


def _jobs(config: EngineConfig, bug: SeededBug, *, short: bool = False) -> Property:
    return Property(
        name=f"engine jobs, {config.dataflow}, {config.rows} x {config.cols}, {config.lanes} lanes",
        claim="each job drains exactly its own results, whatever M, K and N become when it is done; tiles keep apart",
        harness=lambda: JobsHarness(config, short=short),
        method=Unbounded(cover_cycles=60),
        bug=bug,
    )


def _prompt(config: EngineConfig, cycles: int, bug: SeededBug) -> Property:
    return Property(
        name=f"engine jobs end, {config.dataflow}, {config.rows} x {config.cols}, {config.lanes} lanes",
        claim=f"with operands there and results taken, a job of M, K, N up to 2 is done within {cycles} cycles",
        harness=lambda: JobsHarness(config, short=True, prompt=cycles),
        method=Unbounded(cover_cycles=60),
        bug=bug,
    )


PROPERTIES = (
    _jobs(
        small_engine("output-stationary", rows=2, cols=4, lanes=1),
        SeededBug(module="engine.core", old="last_left & dataflow.rests", new="last_left"),
    ),
    _jobs(
        small_engine("output-stationary", rows=2, cols=2, lanes=1),
        SeededBug(module="engine.tiler", old="config.drain_cycles - 1", new="config.drain_cycles - 2"),
    ),
    _jobs(
        small_engine("output-stationary", rows=2, cols=2, lanes=2),
        SeededBug(module="engine.core", old="dataflow.m.eq(job.m)", new="dataflow.m.eq(job.n)"),
    ),
    _jobs(
        small_engine("weight-stationary", rows=1, cols=1, lanes=1),
        SeededBug(module="engine.core", old="last_left & dataflow.rests", new="dataflow.rests"),
        short=True,
    ),
    _prompt(
        small_engine("output-stationary", rows=2, cols=1, lanes=1),
        17,
        SeededBug(module="engine.tiler", old="may_end.eq(pace.over & ~", new="may_end.eq(pace.over & "),
    ),
)
