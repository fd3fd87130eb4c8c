"""Proofs of the engine's intake: a job's words come early, and it begins, or its error shows, in order."""

from __future__ import annotations

from amaranth.hdl import Assert, Assume, Cat, Cover, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from systoliq.hw.engine.config import EngineConfig
from systoliq.hw.engine.core import EngineCore
from systoliq.hw.engine.intake import Intake, lengths_of
from systoliq.hw.engine.registers import ERRORS
from systoliq.hw.hierarchy import mark_used

from ..property import Property, SeededBug, Unbounded
from .drain import small_engine

__all__ = ["PROPERTIES"]

_BITS = 3
"""Width of M, K and N, which are free: the lengths that are too large for a small engine are among them."""
_PROMPT = 5
"""Cycles from the start of a job to its first tile at the most, and from an error to its report."""


class IntakeHarness(wiring.Component):
    """The real intake; jobs of any lengths are offered and done, and loaders end, whenever the solver likes.

    ``loaded`` counts the jobs whose words are let in, or are all there, and that are not done: the one that runs, and
    the next one. ``code`` checks which error is reported, else that jobs keep their order.
    """

    def __init__(self, config: EngineConfig, *, code: bool) -> None:
        self._config, self._code = config, code
        free = {name: In(_BITS) for name in ("m", "k", "n")}
        flags = ("row_zero_points", "queue", "done", "a_ends", "b_ends", "early", "late")
        super().__init__({**free, **{name: In(1) for name in flags}})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        core = EngineCore(config)
        mark_used(core)
        m.submodules.dut = dut = Intake(config, type(core.dataflow))
        offered, loads, runs, begun, faulty = (
            Signal(name=name) for name in ("offered", "loads", "runs", "begun", "faulty")
        )
        loaded, loading = Signal(2), Signal(2)
        waiting, job = Signal(lengths_of(config)), Signal(lengths_of(config))
        with m.If(self.queue & ~offered):
            m.d.sync += [waiting[name].eq(getattr(self, name)) for name in waiting.shape().members]
        with m.If(loads):
            m.d.sync += job.eq(waiting)
        m.d.comb += [
            loads.eq(offered & ~runs),
            dut.offer.eq(offered),
            dut.next.eq(waiting),
            dut.loading.eq(loading),
            dut.early.eq(Cat(self.early & loading[0], 0)),
            dut.late.eq(Cat(0, self.late & loading[1])),
            # A job is done after its first tile, and has all its words by then.
            Assume(~self.done | (begun & ((loaded == 2) | ~loading.any()) & ~faulty)),
        ]
        ends = Cat(self.a_ends | self.early, self.b_ends | self.late)
        m.d.sync += [
            offered.eq(Mux(offered, ~loads, self.queue)),
            dut.start.eq(loads),
            runs.eq((runs & ~self.done) | loads),
            begun.eq((begun & ~self.done) | dut.begin),
            loaded.eq(loaded + dut.load - self.done),
            loading.eq((loading | dut.load.replicate(2)) & ~(loading & ends) & ~dut.halt.replicate(2)),
        ]
        if self._code:
            self._check_code(m, dut)
        else:
            self._check_order(m, dut, offered, runs, begun, faulty, loaded, loading, waiting, job)
        return m

    def _check_order(
        self,
        m: Module,
        dut: Intake,
        offered: Signal,
        runs: Signal,
        begun: Signal,
        faulty: Signal,
        loaded: Signal,
        loading: Signal,
        waiting: Value,
        job: Value,
    ) -> None:
        """Each job is loaded once, by its own lengths, and begins once, after its start; its error shows after that."""
        before, was_loading = Signal.like(dut.lengths), Signal()
        later = Signal()  # the job that is wrong is the one behind the job that runs
        wrong = (dut.early | dut.late).any()
        waited, unsaid = Signal(range(_PROMPT + 2)), Signal(range(_PROMPT + 2))
        m.d.sync += [
            before.eq(dut.lengths),
            was_loading.eq(loading.any()),
            faulty.eq(faulty | (wrong & (loaded == 1)) | (later & self.done)),
            later.eq((later | (wrong & (loaded == 2))) & ~self.done),
            waited.eq(Mux(runs & ~begun & ~dut.begin & ~dut.failed, waited + 1, 0)),
            unsaid.eq(Mux(runs & faulty & ~dut.failed, unsaid + 1, 0)),
        ]
        own = Mux(runs & (loaded == 0), job.as_value(), waiting.as_value())
        m.d.comb += [
            Assert(~dut.load | ((dut.lengths.as_value() == own) & (offered | runs) & (loaded != 2))),
            Assert(~dut.load | ~loading.any()),
            Assert(~was_loading | ~loading.any() | (dut.lengths.as_value() == before.as_value())),
            Assert(~dut.begin | (runs & ~begun & ((loaded != 0) | dut.load) & ~dut.start)),
            Assert((dut.error == 0) | (runs & ~later & ~dut.start)),
            Assert(waited <= _PROMPT),
            Assert(unsaid <= _PROMPT),
            Cover(dut.load & begun & (loaded == 1)),
            Cover((dut.error != 0) & begun),
            Cover(later & begun),
        ]

    def _check_code(self, m: Module, dut: Intake) -> None:
        """A job is loaded only if its lengths are right, and refused with the code of what is wrong with them."""
        config, lengths = self._config, dut.lengths
        a_too_large = (lengths.k > config.a_words * config.depth) & (lengths.n > config.cols)
        found = [
            ((lengths.m == 0) | (lengths.k == 0) | (lengths.n == 0), "ILLEGAL_SHAPE"),
            (a_too_large, "A_TOO_LARGE") if config.dataflow == "output-stationary" else None,
            (lengths.m > config.max_rows, "TOO_MANY_ROWS") if config.dataflow == "weight-stationary" else None,
            (lengths.n > config.max_columns, "TOO_MANY_COLUMNS"),
            ((lengths.m > config.max_rows) & lengths.row_zero_points, "TOO_MANY_ROWS"),
        ]
        code: Value = Signal(8, name="none")
        for each in reversed([each for each in found if each]):
            code = Mux(each[0], ERRORS[each[1]][0], code)
        wrong = (dut.early | dut.late).any()
        streams = Signal()  # an error of the streams has been seen
        m.d.sync += streams.eq(streams | wrong)
        m.d.comb += [
            Assert(~dut.load | (code == 0)),
            Assert((dut.error == 0) | streams | (dut.error == code)),
            Assert((dut.error == 0) | ~streams | (dut.error == ERRORS["A_ENDED_EARLY"][0])
                   | (dut.error == ERRORS["B_ENDED_LATE"][0])),
            Cover((dut.error != 0) & ~streams),
            Cover((dut.error != 0) & streams),
        ]  # fmt: skip


def _intake(config: EngineConfig, bug: SeededBug, *, code: bool) -> Property:
    claim = (
        "a job is let in only if its lengths are right, else refused with the code of what is wrong"
        if code
        else f"each job is let in once, with its lengths, begins once, within {_PROMPT} cycles of its start, and "
        "its own error is reported after that, as promptly"
    )
    return Property(
        name=f"engine intake, {config.dataflow}, {'errors' if code else 'order'}",
        claim=claim,
        harness=lambda: IntakeHarness(config, code=code),
        method=Unbounded(cover_cycles=30),
        bug=bug,
    )


PROPERTIES = (
    _intake(
        small_engine("output-stationary", rows=2, cols=2, lanes=1),
        SeededBug(module="engine.intake", old="~waits & ~self.load & ", new="~waits & "),
        code=False,
    ),
    _intake(
        small_engine("weight-stationary", rows=1, cols=1, lanes=1),
        SeededBug(module="engine.intake", old="loading | was_loading | self.halt", new="loading | self.halt"),
        code=False,
    ),
    _intake(
        small_engine("output-stationary", rows=2, cols=2, lanes=1),
        SeededBug(module="engine.output_stationary", old="[(beyond & several,", new="[(beyond,"),
        code=True,
    ),
    _intake(
        small_engine("weight-stationary", rows=1, cols=1, lanes=1),
        SeededBug(
            module="engine.intake", old="lengths.n > config.max_columns", new="lengths.n > config.max_columns + 1"
        ),
        code=True,
    ),
)
