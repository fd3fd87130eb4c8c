"""Proofs of the engine's drain control, and the walk over tiles that is its specification."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Assert, Assume, Cat, Cover, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from systoliq.hw.delay import delay
from systoliq.hw.engine.config import EngineConfig
from systoliq.hw.engine.drain_control import DrainControl

from ..property import Property, SeededBug, Unbounded

__all__ = ["LENGTH_BITS", "PROPERTIES", "DrainWalk", "PromptDrainControl", "small_engine"]

LENGTH_BITS = 2
"""Width of a job's M, K and N, which are free: 1 to 3."""


def small_engine(dataflow: str, *, rows: int, cols: int, lanes: int) -> EngineConfig:
    """An engine with little memory."""
    return EngineConfig(
        rows=rows, cols=cols, lanes=lanes, a_words=4, b_words=4, max_columns=4, max_rows=4, dataflow=dataflow
    )


class PromptDrainControl(DrainControl):
    """Drain control that reports, a cycle after a token, the steps that the real one reports later; with the row's
    context.
    """

    @staticmethod
    def latency_of(config: EngineConfig) -> int:
        return 1

    @staticmethod
    def ahead_of(config: EngineConfig) -> int:
        return 0


class DrainWalk:
    """A walk over tiles of ``rows``, slots and steps that begins anew with every job.

    Every tile has a slot for column sums and one for each row that it may have. A token starts the tile a cycle later;
    with ``per_slot``, a token starts each slot, and rows that the tile lacks have no token.
    """

    def __init__(
        self,
        config: EngineConfig,
        *,
        rows: int,
        per_slot: bool,
        rows_of_job: Value,
        columns_of_job: Value,
        first_column: Value,
    ) -> None:
        self._config, self._rows, self._per_slot, self._first_column = config, rows, per_slot, first_column
        self._rows_of_job, self._columns_of_job = rows_of_job, columns_of_job
        self.inside = Signal(name="walk_inside")  # a job that begun has not had its last result
        self.walks = Signal(name="walk_walks")
        self.now = Signal(name="walk_now")
        self.row_base, self.column_base = Signal(4, name="walk_row_base"), Signal(4, name="walk_column_base")  # tile's
        self.slot, self.at = Signal(range(rows + 1), name="walk_slot"), Signal(range(config.interval), name="walk_at")
        self.row, self.column = Signal(4, name="walk_row"), Signal(4, name="walk_column")
        self.push, self.last = Signal(name="walk_push"), Signal(name="walk_last")

    def advance(self, m: Module, begins: Value, token: Value) -> None:
        """Advance by a cycle: ``begins`` comes between jobs, and a ``token`` when the previous walk has ended."""
        token = delay(m, token, 1, name="token", reset_less=False)
        rows_of_job, columns_of_job, cols = self._rows_of_job, self._columns_of_job, self._config.cols
        m.d.comb += [
            self.now.eq(self.walks | token),
            self.row.eq(self.row_base + self.slot - 1),
            self.column.eq(self.column_base + self.at * self._config.lanes),
            self.push.eq(
                self.now & self.inside & (self.slot != 0) & (self.row < rows_of_job) & (self.column < columns_of_job)
            ),
            self.last.eq(self.push & self._last_column & self._last_row),
            Assert(~begins | ~self.inside),
            Assert(~token | (self.inside & ~self.walks)),
        ]
        places = (self.row_base, self.column_base, self.slot, self.at)
        with m.If(self.now):
            m.d.sync += [self.walks.eq(1), self.at.eq(self.at + 1)]
            with m.If(self.at == self._config.interval - 1):
                m.d.sync += [self.at.eq(0), self.slot.eq(self.slot + 1)]
                if self._per_slot:
                    m.d.sync += self.walks.eq(0)
                with m.If(self.slot == (rows_of_job if self._per_slot else self._rows)):
                    m.d.sync += [self.slot.eq(0), self.walks.eq(0), self.column_base.eq(self.column_base + cols)]
                    with m.If(self.column_base + cols >= columns_of_job):
                        m.d.sync += [self.column_base.eq(0), self.row_base.eq(self.row_base + self._rows)]
        with m.If(self.last):
            m.d.sync += [self.inside.eq(0), self.walks.eq(0)]
        with m.If(begins):
            m.d.sync += [self.inside.eq(1), self.walks.eq(0), *(place.eq(0) for place in places)]

    @property
    def _last_row(self) -> Value:
        """True in the last row of the job."""
        return self.row == self._rows_of_job - 1

    @property
    def _last_column(self) -> Value:
        """True if the job's last column is among the step's columns."""
        return self.column + self._config.lanes >= self._columns_of_job

    def check(self, m: Module, step: Any) -> None:
        """Check ``step`` against this place of the walk."""
        lanes, at = self._config.lanes, self.at
        entry = (self._first_column + self.column // lanes)[: len(step.entry)]
        row_ends = self._last_column | (at == self._config.interval - 1)
        slots_end = 1 if self._per_slot else (self.slot == self._rows) | self._last_row
        m.d.comb += Assert(step.push == self.push)
        with m.If(self.now & self.inside & (self.slot == 0)):
            m.d.comb += [Assert(step.column_sum & (step.step == at)), Assert(step.entry == entry)]
        with m.Else():
            m.d.comb += Assert(~step.column_sum)
        with m.If(self.push):
            m.d.comb += [
                Assert(step.columns == Mux(self._last_column, self._columns_of_job - self.column, lanes)),
                Assert(step.step == at),
                Assert(step.entry == entry),
                Assert(step.last == self.last),
                Assert(step.tile_last == (row_ends & slots_end)),
            ]


class DrainControlHarness(wiring.Component):
    """The drain control alone, without its latency. M, N and the first entry are free from the cycle after a job's last
    result on.

    A job begins two cycles after that or later, when M and N have been steady for a cycle; a token comes a cycle after
    the begin or later, and when the walk of the token before is over.
    """

    def __init__(self, config: EngineConfig) -> None:
        self._config = config
        super().__init__(
            {
                "m": In(LENGTH_BITS),
                "n": In(LENGTH_BITS),
                "first_column": In(range(config.table_words)),
                "begin": In(1),
                "token": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config, rows = self._config, self._config.rows
        m.submodules.dut = dut = PromptDrainControl(config, rows=rows, per_slot=False)
        lengths = Cat(self.m, self.n, self.first_column)
        before, inside = Signal.like(lengths), Signal()
        tiles = Signal(5)  # of the job, that have had their token
        all_tiles = Signal(5)
        age = Signal(range(config.drain_cycles + 1))
        token = self.token & inside & (age == 0) & (tiles != all_tiles)
        begin = self.begin & ~inside
        m.d.comb += [
            all_tiles.eq(((self.m + rows - 1) // rows) * ((self.n + config.cols - 1) // config.cols)),
            *(getattr(dut, name).eq(getattr(self, name)) for name in ("m", "n", "first_column")),
            dut.begin.eq(begin),
            dut.start.eq(token),
            Assume(~(begin | inside) | (lengths == before)),
            Assume(~begin | ((self.m != 0) & (self.n != 0))),
        ]
        walk = DrainWalk(
            config,
            rows=rows,
            per_slot=False,
            rows_of_job=self.m,
            columns_of_job=self.n,
            first_column=self.first_column,
        )
        walk.advance(m, begin, token)
        walk.check(m, dut.step)
        jobs = Signal(2)
        m.d.sync += [before.eq(lengths), age.eq(Mux(token, config.drain_cycles - 1, age - (age != 0)))]
        with m.If(token):
            m.d.sync += tiles.eq(tiles + 1)
        with m.If(walk.last):
            m.d.sync += [inside.eq(0), jobs.eq(jobs + (jobs != 3))]
        with m.If(begin):
            m.d.sync += [inside.eq(1), tiles.eq(0), age.eq(0)]
        m.d.comb += Cover(walk.last & (jobs == 1) & (self.m == 3))
        return m


def _drain(config: EngineConfig, *, old: str, new: str) -> Property:
    return Property(
        name=f"engine drain control, {config.rows} x {config.cols}, {config.lanes} lanes",
        claim="with a job's last result its walk is over: whatever M and N become, only the next job's results follow",
        harness=lambda: DrainControlHarness(config),
        method=Unbounded(cover_cycles=40),
        bug=SeededBug(module="engine.drain_control", old=old, new=new),
        quick=True,
    )


PROPERTIES = (
    _drain(
        small_engine("output-stationary", rows=2, cols=4, lanes=1),
        old="delay(m, job_ends, 1,",
        new="delay(m, job_ends & 0, 1,",
    ),
    _drain(
        small_engine("output-stationary", rows=2, cols=2, lanes=2),
        old="final_tile.eq(column.final & group.final)",
        new="final_tile.eq(group.final)",
    ),
)
