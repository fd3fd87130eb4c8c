"""The intake: checks a job and lets its words in while the job before it still runs, and then begins it."""

from __future__ import annotations

from amaranth.hdl import Const, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ..delay import delay
from .config import EngineConfig
from .dataflow import Dataflow
from .registers import ERRORS

__all__ = ["BEGIN_LATENCY", "LENGTHS", "Intake", "lengths_of"]

_CHECKING = 4  # cycles from a job's arrival to its verdict: its lengths, two registers of the checks, the code
LENGTHS = {"m": unsigned(16), "k": unsigned(16), "n": unsigned(16)}
"""The lengths of a job."""
BEGIN_LATENCY = 1
"""Cycles from ``start`` to ``begin``, if the job was found to be right before."""


def lengths_of(config: EngineConfig) -> data.StructLayout:
    """The part of a job that the intake checks: M, K, N, and whether each row has its own zero point."""
    return data.StructLayout(LENGTHS if config.float8 else {**LENGTHS, "row_zero_points": 1})


class Intake(wiring.Component):
    """Knows two jobs at the most: one that runs, and one whose words come already.

    ``offer`` says that a job with the lengths ``next`` waits; both stay until its ``start``, which comes once the job
    before is done, in the cycle after the last of ``offer``. The job is taken as soon as the one before has begun and
    the loaders have all of its words. Its lengths are in ``lengths`` from then on, ``load`` starts the loaders, and
    ``begin`` its tiles.

    ``loading``, ``early`` and ``late`` have a bit for A (bit 0) and one for B: its loader is at work, or its stream
    ends wrongly. ``put`` says that a word comes of the operand that is read repeatedly. An error stops the loaders by
    ``halt``. It is reported, by ``error`` in one cycle and ``failed`` from then on, never before the ``start`` of its
    job: until then, the job before may still run.
    """

    kind = "intake"

    def __init__(self, config: EngineConfig, dataflow: type[Dataflow]) -> None:
        self.config = config
        self.dataflow = dataflow
        super().__init__(
            {
                "offer": In(1),
                "next": In(lengths_of(config)),
                "start": In(1),
                "loading": In(2),
                "early": In(2),
                "late": In(2),
                "put": In(1),
                "lengths": Out(lengths_of(config)),
                "load": Out(1),
                "begin": Out(1),
                "halt": Out(1),
                "error": Out(8),
                "failed": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        arrives = Signal()
        known = Signal()  # the job that is offered has arrived
        waits = Signal()  # the job that has arrived has not begun
        started = Signal()  # and it may
        right = Signal()  # and no check refused it
        begins = Signal()
        lengths = Signal.like(self.lengths, reset_less=True)
        loading = self.loading.any()
        was_loading = delay(m, loading, 1, name="was_loading", reset_less=False)  # until a wrong last word halts
        checked = delay(m, arrives, _CHECKING, name="arrived", reset_less=False)
        wrong = self._wrong(m, lengths)
        passes = checked & (wrong == 0)
        trouble = self._trouble(m, checked, wrong, self._stuck(m, lengths))
        m.d.comb += [
            arrives.eq(self.offer & ~known & ~waits & ~self.load & ~(loading | was_loading | self.halt)),
            begins.eq((passes | right) & (self.start | started) & ~self.halt),
            self.lengths.eq(lengths),
        ]
        m.d.sync += [
            known.eq(self.offer & (known | arrives)),
            waits.eq((waits | arrives) & ~begins),
            started.eq((started | self.start) & ~begins),
            right.eq((right | passes) & ~begins),
            self.load.eq(passes),
            self.begin.eq(begins),
            self.error.eq(0),
        ]
        with m.If(arrives):
            m.d.sync += lengths.eq(self.next)
        with m.If(self.halt & (self.start | started | ~waits) & ~self.failed):
            m.d.sync += [self.error.eq(trouble), self.failed.eq(1)]
        return m

    def _wrong(self, m: Module, lengths: data.View) -> Signal:
        """The error code of the job as a whole, or 0; three cycles after its lengths."""
        config = self.config
        wrong = Signal(8)
        conditions = [
            (lengths.m == 0, "ILLEGAL_SHAPE"),
            (lengths.k == 0, "ILLEGAL_SHAPE"),
            (lengths.n == 0, "ILLEGAL_SHAPE"),
            *self.dataflow.too_large(config, m, lengths.m, lengths.k, lengths.n),
            (lengths.n > config.max_columns, "TOO_MANY_COLUMNS"),
        ]
        if not config.float8:
            beyond = delay(m, lengths.m > config.max_rows, 1, name="rows_beyond")
            conditions.append((beyond & lengths.row_zero_points, "TOO_MANY_ROWS"))
        code: Value = Const(0, 8)
        for index, (condition, name) in reversed(list(enumerate(conditions))):
            code = Mux(delay(m, condition, 1, name=f"wrong_{index}"), _code(name), code)
        m.d.sync += wrong.eq(code)
        return wrong

    def _trouble(self, m: Module, checked: Value, wrong: Value, stuck: Value) -> Signal:
        """The code of the first error once there is ``halt``, a cycle or two after it came to be."""
        trouble = Signal(8, reset_less=True)
        found = [(checked & (wrong != 0), wrong)]
        for index, letter in enumerate("AB"):
            for end, port in (("EARLY", self.early), ("LATE", self.late)):
                ends = delay(m, port[index], 1, name=f"{letter}_{end}".lower(), reset_less=False)
                found.append((ends, _code(f"{letter}_ENDED_{end}")))
        found.append((stuck, _code("B_TOO_LARGE" if self.dataflow.b_resident else "A_TOO_LARGE")))
        with m.If(~self.halt):
            for condition, code in found:
                with m.If(condition):
                    m.d.sync += [trouble.eq(code), self.halt.eq(1)]
        return trouble

    def _stuck(self, m: Module, lengths: data.View) -> Value:
        """True if the operand that is read repeatedly exceeds its buffer: its next word would never find room."""
        config, resident = self.config, self.dataflow.b_resident
        room = config.b_words if resident else config.a_words
        repeated = lengths.m > config.rows if resident else lengths.n > config.cols
        again = delay(m, repeated, 1, name="again")
        came = delay(m, self.put, 1, name="came", reset_less=False)
        room_left = Signal(range(room + 1))
        full = Signal()
        with m.If(self.load):
            m.d.sync += [room_left.eq(room), full.eq(0)]
        with m.Elif(came & ~full):
            m.d.sync += [room_left.eq(room_left - 1), full.eq(room_left == 1)]
        return full & self.loading[int(resident)] & again


def _code(error: str) -> Value:
    return Const(ERRORS[error][0], 8)
