"""Proofs of the engine's control: credit, operand buffer, loader, and the handover from one job to the next."""

from __future__ import annotations

from typing import Any, cast

from amaranth.hdl import Assert, Assume, Cat, Const, Cover, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from systoliq.hw.credit import Credit
from systoliq.hw.delay import delay
from systoliq.hw.engine.config import EngineConfig
from systoliq.hw.engine.core import EngineCore
from systoliq.hw.engine.drain_control import DrainControl
from systoliq.hw.engine.loader import Loader
from systoliq.hw.engine.operand_buffer import OperandBuffer
from systoliq.hw.hierarchy import mark_used, place

from ..property import Property, SeededBug, Unbounded

__all__ = ["PROPERTIES"]

_BITS = 2  # of a payload: the blocks move payloads and never look into them
_FREE = ("a_there", "b_there", "credit", "leaves", "wrong")
_SMALL = 2  # bits of a job's lengths that are free: 1 to 3


class CreditHarness(wiring.Component):
    """Credits of each size, begun full and empty, against plain counts."""

    def __init__(self, *sizes: int) -> None:
        self._sizes = sizes
        super().__init__({"give": In(1), "want": In(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for most in self._sizes:
            for full in (False, True):
                name = f"{'full' if full else 'empty'}_{most}"
                give, take = Signal(name=f"give_{name}"), Signal(name=f"take_{name}")
                count = Signal(range(most + 1), name=f"count_{name}", init=most if full else 0)
                credit = Credit(m, most, name=name, full=full, give=give, take=take)
                m.d.comb += [
                    take.eq(self.want & credit.any),
                    give.eq(self.give & ((count != most) | take)),
                    Assert(credit.any == (count != 0)),
                    Assert(credit.next == (count + give - take != 0)),
                    Cover(take & ~give & (count == 1)),
                    Cover(give & take & (count == most)),
                ]
                m.d.sync += count.eq(count + give - take)
        return m


class OperandBufferHarness(wiring.Component):
    """The operand buffer against counts of what is inside, unread and kept, and one word that the solver marks.

    Reads are fresh ones, of the word after the last one that was read so, where one is there; or of any word that was
    read and not released. The oldest is released when it was read, or in the cycle in which it is.
    """

    def __init__(self, depth: int) -> None:
        self._depth = depth
        super().__init__(
            {
                "valid": In(1),
                "payload": In(_BITS),
                "read": In(1),
                "fresh": In(1),
                "again": In(range(depth)),
                "release": In(1),
                "mark": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        depth = self._depth
        m.submodules.dut = dut = OperandBuffer(_BITS, depth=depth, cells="portable", kind="buffer")
        came, next_fresh, oldest = (Signal(range(depth), name=name) for name in ("came", "next_fresh", "oldest"))
        unread, kept = Signal(range(depth + 1)), Signal(range(depth + 1))  # kept: read, and not released
        released = Signal()  # a cycle ago
        room, available = Signal(init=1), Signal()
        put = self.valid & room
        fresh = self.read & self.fresh & available
        again = self.read & ~self.fresh & (self.again < kept)
        release = self.release & (fresh | (kept != 0))
        m.d.comb += [
            dut.put.eq(put),
            dut.i.eq(self.payload),
            dut.read.eq(fresh | again),
            dut.fresh.eq(self.fresh),
            dut.address.eq(Mux(self.fresh, next_fresh, (oldest + self.again)[: len(oldest)])),
            dut.release.eq(release),
            Assert(room == (unread + kept + released != depth)),
            Assert(available == (unread != 0)),
            Assert(~(dut.ram.write & dut.ram.read & (dut.ram.write_address == dut.ram.read_address))),
        ]
        m.d.sync += [
            unread.eq(unread + put - fresh),
            kept.eq(kept + fresh - release),
            came.eq(came + put),
            room.eq(dut.room),
            available.eq(dut.coming),
            released.eq(release),
            next_fresh.eq(next_fresh + fresh),
            oldest.eq(oldest + release),
        ]
        marked = Signal()
        word, place = Signal(_BITS), Signal.like(came)
        with m.If(put & self.mark & ~marked):
            m.d.sync += [marked.eq(1), word.eq(self.payload), place.eq(came)]
        with m.Elif(release & (oldest == place)):
            m.d.sync += marked.eq(0)
        looks = Value.cast(Cat(dut.read & marked & (dut.address == place), word))
        shown = delay(m, looks, dut.ram.latency, name="shown", reset_less=False)
        with m.If(shown[0]):
            m.d.comb += Assert(dut.word == shown[1:])
        m.d.comb += [
            Cover(kept == depth),
            Cover(again & marked & (oldest != place)),
            Cover(fresh & release & (kept == 0)),
        ]
        return m


class LoaderHarness(wiring.Component):
    """The loader against two counts, of the beats of a round and of the rounds of a job.

    Lengths do as they like while no job's words are let in, but for the cycle before a start.
    """

    def __init__(self, span: int, depth: int) -> None:
        self._span, self._depth = span, depth
        super().__init__(
            {
                "valid": In(1),
                "payload": In(_BITS),
                "last": In(1),
                "room": In(1),
                "start": In(1),
                "halt": In(1),
                "length": In(_SMALL),
                "k": In(_SMALL),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        word = data.ArrayLayout(_BITS, 1)
        m.submodules.dut = dut = Loader(word, span=self._span, depth=self._depth, kind="loader")
        active, room = Signal(), Signal()
        beat, turn = Signal(_SMALL), Signal(_SMALL)
        beat_ends = (beat + 1) * self._depth >= self.k
        end = beat_ends & ((turn + 1) * self._span >= self.length)
        passed = self.valid & room & active
        lengths = Cat(self.length, self.k)
        before = Signal.like(lengths)
        m.d.sync += [before.eq(lengths), room.eq(self.room)]
        m.d.comb += [
            dut.i.valid.eq(self.valid),
            dut.i.payload.data.eq(self.payload),
            dut.i.payload.last.eq(self.last),
            dut.room.eq(self.room),
            *(getattr(dut, name).eq(getattr(self, name)) for name in ("start", "halt", "length", "k")),
            Assume(~self.start | (~active & (self.length != 0) & (self.k != 0))),
            Assume(~(self.start | active) | (lengths == before)),
            Assert(dut.active == active),
            Assert(dut.put == passed),
            Assert(dut.i.ready == (room & active)),
            Assert(dut.o.as_value() == self.payload),
            Assert(dut.early == (passed & self.last & ~end)),
            Assert(dut.late == (passed & ~self.last & end)),
        ]
        with m.If(passed):
            m.d.sync += beat.eq(Mux(beat_ends, 0, beat + 1))
            with m.If(beat_ends):
                m.d.sync += turn.eq(turn + 1)
            with m.If(end | self.last):
                m.d.sync += active.eq(0)
        ended = Signal()  # a job before
        m.d.sync += ended.eq(ended | (passed & end & self.last))
        with m.If(self.start):
            m.d.sync += [active.eq(1), beat.eq(0), turn.eq(0)]
        with m.If(self.halt):
            m.d.sync += active.eq(0)
        m.d.comb += [
            Cover(dut.early & ended),
            Cover(dut.late),
            Cover(passed & end & self.last & (self.k == 3) & (self.length == 3)),
            Cover(self.start & ended),
        ]
        return m


class _AnyOperands:
    """What the core asks of a loader besides words: whether its stream ended wrongly. It may whenever it likes."""

    def __init__(self, wrong: Value) -> None:
        self.early, self.late = wrong, Const(0)


class _LastResult(wiring.Component):
    """A result buffer reduced to what the job's end hangs on: its last result leaves some cycle after it came.

    There is credit whenever the solver likes: more than any real buffer gives, as results stay longer.
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


class _PromptDrainControl(DrainControl):
    """Drain control that tells a cycle after a token what the real one tells later, when the row's context is there."""

    @staticmethod
    def latency_of(config: EngineConfig) -> int:
        return 1


def check_drain(
    m: Module,
    config: EngineConfig,
    *,
    rows: int,
    per_slot: bool,
    begins: Value,
    token: Value,
    rows_of_job: Value,
    columns_of_job: Value,
    step: Any,
) -> Signal:
    """Hold ``step`` against a walk over tiles of ``rows``, slots and steps that begins anew with every job.

    Every tile has a slot for column sums and one for each row that it may have. A token begins it a cycle later, or
    with ``per_slot`` each slot; there are none for rows that it has not, then. Returns whether the job's last result
    comes: nothing may come after it.
    """
    interval, lanes = config.interval, config.lanes
    token = delay(m, token, 1, name="token", reset_less=False)
    inside = Signal(name="walk_inside")  # a job that begun has not had its last result
    row_base, column_base = Signal(4, name="walk_row_base"), Signal(4, name="walk_column_base")  # the tile's
    slot, at = Signal(range(rows + 1), name="walk_slot"), Signal(range(interval), name="walk_at")
    walks, now = Signal(name="walk_walks"), Signal(name="walk_now")
    row, column = Signal(4, name="walk_row"), Signal(4, name="walk_column")
    push, last = Signal(name="walk_push"), Signal(name="walk_last")
    last_column = column + lanes >= columns_of_job
    row_ends = last_column | (at == interval - 1)
    m.d.comb += [
        now.eq(walks | token),
        row.eq(row_base + slot - 1),
        column.eq(column_base + at * lanes),
        push.eq(now & inside & (slot != 0) & (row < rows_of_job) & (column < columns_of_job)),
        last.eq(push & last_column & (row == rows_of_job - 1)),
        Assert(~begins | ~inside),
        Assert(~token | (inside & ~walks)),
        Assert(step.push == push),
    ]
    with m.If(now & inside & (slot == 0)):
        m.d.comb += [Assert(step.column_sum & (step.step == at)), Assert(step.entry == column // lanes)]
    with m.Else():
        m.d.comb += Assert(~step.column_sum)
    with m.If(push):
        m.d.comb += [
            Assert(step.columns == Mux(last_column, columns_of_job - column, lanes)),
            Assert(step.step == at),
            Assert(step.entry == column // lanes),
            Assert(step.last == last),
            Assert(step.tile_last == (row_ends & (1 if per_slot else (slot == rows) | (row == rows_of_job - 1)))),
        ]
    with m.If(now):
        m.d.sync += [walks.eq(1), at.eq(at + 1)]
        with m.If(at == interval - 1):
            m.d.sync += [at.eq(0), slot.eq(slot + 1)]
            if per_slot:
                m.d.sync += walks.eq(0)
            with m.If(slot == (rows_of_job if per_slot else rows)):
                m.d.sync += [slot.eq(0), walks.eq(0), column_base.eq(column_base + config.cols)]
                with m.If(column_base + config.cols >= columns_of_job):
                    m.d.sync += [column_base.eq(0), row_base.eq(row_base + rows)]
    with m.If(last):
        m.d.sync += [inside.eq(0), walks.eq(0)]
    with m.If(begins):
        m.d.sync += [inside.eq(1), row_base.eq(0), column_base.eq(0), slot.eq(0), at.eq(0), walks.eq(0)]
    return last


class DrainControlHarness(wiring.Component):
    """The drain control alone, without its latency. M and N are free from the cycle after a job's last result on.

    A job begins two cycles after that or later, when M and N have been steady for a cycle; a token comes a cycle after
    the begin or later, and when the walk of the token before is over.
    """

    def __init__(self, config: EngineConfig) -> None:
        self._config = config
        super().__init__({"m": In(_SMALL), "n": In(_SMALL), "begin": In(1), "token": In(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config, rows = self._config, self._config.rows
        m.submodules.dut = dut = _PromptDrainControl(config, rows=rows, per_slot=False)
        lengths = Cat(self.m, self.n)
        before, inside = Signal.like(lengths), Signal()
        tiles = Signal(5)  # of the job, that have had their token
        all_tiles = Signal(5)
        age = Signal(range(config.drain_cycles + 1))
        token = self.token & inside & (age == 0) & (tiles != all_tiles)
        begin = self.begin & ~inside
        m.d.comb += [
            all_tiles.eq(((self.m + rows - 1) // rows) * ((self.n + config.cols - 1) // config.cols)),
            *(getattr(dut, name).eq(getattr(self, name)) for name in ("m", "n")),
            dut.begin.eq(begin),
            dut.start.eq(token),
            Assume(~(begin | inside) | (lengths == before)),
            Assume(~begin | ((self.m != 0) & (self.n != 0))),
        ]
        drained = check_drain(
            m,
            config,
            rows=rows,
            per_slot=False,
            begins=begin,
            token=token,
            rows_of_job=self.m,
            columns_of_job=self.n,
            step=dut.step,
        )
        jobs = Signal(2)
        m.d.sync += [before.eq(lengths), age.eq(Mux(token, config.drain_cycles - 1, age - (age != 0)))]
        with m.If(token):
            m.d.sync += tiles.eq(tiles + 1)
        with m.If(drained):
            m.d.sync += [inside.eq(0), jobs.eq(jobs + (jobs != 3))]
        with m.If(begin):
            m.d.sync += [inside.eq(1), tiles.eq(0), age.eq(0)]
        m.d.comb += Cover(drained & (jobs == 1) & (self.m == 3))
        return m


class ControlOfJobs(EngineCore):
    """The core as it is, but for the ways of data: operands are there, and results leave, whenever the solver likes.

    What is real: the checks of a job, its beginning and end, the dataflow with all its loops, and the drain control.
    Of the lanes and the result buffer there is a delay of a cycle or more, which the real ones always are.
    """

    def __init__(self, config: EngineConfig) -> None:
        super().__init__(config)
        for part in (*self.lanes, self.result_buffer):
            mark_used(part)
        self.result_buffer = cast(Any, _LastResult(self.result_buffer.o.payload.shape()))
        self.control = _PromptDrainControl(config, rows=self.dataflow.slot_rows, per_slot=self.dataflow.per_slot)
        self.a_there, self.b_there, self.credit, self.leaves, self.wrong = (Signal(name=name) for name in _FREE)

    def _load(self, m: Module, platform: object, start: Value, halt: Value) -> Any:
        m.d.comb += [self.dataflow.a_coming.eq(self.a_there), self.dataflow.b_coming.eq(self.b_there)]
        return {"a": _AnyOperands(self.wrong), "b": _AnyOperands(Const(0))}

    def _stuck(self, m: Module, start: Value, loaders: Any) -> Value:
        return Const(0)

    def _drain(self, m: Module, platform: object, begin: Value) -> None:
        job, control, buffer = self.job, self.control, cast(Any, self.result_buffer)
        m.submodules.drain_control = place(control, platform)
        m.d.comb += [
            control.begin.eq(begin),
            control.start.eq(self.dataflow.drain),
            control.m.eq(job.m),
            control.k.eq(job.k),
            control.n.eq(job.n),
            buffer.credit.eq(self.credit),
            buffer.came.eq(control.step.push & control.step.last),
            buffer.leaves.eq(self.leaves),
        ]


class JobsHarness(wiring.Component):
    """Jobs one after the other; M, K and N are free until a job's start and after its ``done``.

    The drain is held against a walk over tiles, slots and steps that begins anew with every job. ``prompt``: operands
    are always there, results leave at once, and a job must end within so many cycles.
    """

    def __init__(self, config: EngineConfig, *, short: bool = False, prompt: int = 0) -> None:
        self._config, self._short, self._prompt = config, short, prompt
        lengths = {name: In(1 if short else _SMALL) for name in ("m", "k", "n")}
        super().__init__({**lengths, "start": In(1), **{name: In(1) for name in _FREE}})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        m.submodules.core = core = ControlOfJobs(config)
        dataflow, step = core.dataflow, core.control.step
        rows_of_job, k, columns_of_job = (Signal(_SMALL, name=f"job_{name}") for name in ("m", "k", "n"))
        for length, value in ((rows_of_job, self.m), (k, self.k), (columns_of_job, self.n)):
            m.d.comb += length.eq(value + self._short)
        lengths = Cat(rows_of_job, k, columns_of_job)
        before, held = Signal.like(lengths), Signal()
        m.d.sync += [before.eq(lengths), held.eq((core.busy | self.start) & ~core.done)]
        m.d.comb += [
            core.job.m.eq(rows_of_job),
            core.job.k.eq(k),
            core.job.n.eq(columns_of_job),
            *(getattr(core, name).eq(1 if self._prompt else getattr(self, name)) for name in _FREE[:-1]),
            core.wrong.eq(0 if self._prompt else self.wrong),
            core.start.eq(self.start),
            core.y.ready.eq(1),
            Assume(~held | (lengths == before)),
        ]
        drained = check_drain(
            m,
            config,
            rows=dataflow.slot_rows,
            per_slot=dataflow.per_slot,
            begins=dataflow.start,
            token=dataflow.drain,
            rows_of_job=rows_of_job,
            columns_of_job=columns_of_job,
            step=step,
        )
        whole = Signal()  # the last result of a job has come, and the job has not ended
        with m.If(drained):
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
            m.d.sync += waited.eq(Mux(core.busy & ~core.done & ~core.failed, waited + 1, 0))
            m.d.comb += Assert(waited <= self._prompt)
        return m


def _loader(span: int, depth: int, *, old: str, new: str) -> Property:
    return Property(
        name=f"engine loader, span {span}, depth {depth}",
        claim="exactly a job's words pass, none outside a job; early and late exactly where a word's last is wrong",
        harness=lambda: LoaderHarness(span, depth),
        method=Unbounded(cover_cycles=16),
        bug=SeededBug(module="engine.loader", old=old, new=new),
        quick=True,
    )


def _config(dataflow: str, *, rows: int, cols: int, lanes: int) -> EngineConfig:
    return EngineConfig(
        rows=rows, cols=cols, lanes=lanes, a_words=4, b_words=4, max_columns=4, max_rows=4, dataflow=dataflow
    )


def _drain(config: EngineConfig, *, old: str, new: str) -> Property:
    return Property(
        name=f"engine drain control, {config.rows} x {config.cols}, {config.lanes} lanes",
        claim="with a job's last result its walk is over: whatever M and N become, only the next job's results follow",
        harness=lambda: DrainControlHarness(config),
        method=Unbounded(cover_cycles=40),
        bug=SeededBug(module="engine.drain_control", old=old, new=new),
        quick=True,
    )


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


_OUTPUT, _WEIGHT = "output-stationary", "weight-stationary"

PROPERTIES = (
    Property(
        name="credit of 1 to 5, and of 8",
        claim="says exactly that there is one, whatever is given and taken, and never loses or makes one",
        harness=lambda: CreditHarness(1, 2, 3, 4, 5, 8),
        method=Unbounded(cover_cycles=12),
        bug=SeededBug(module="credit", old="give | Mux(take,", new="Mux(take | give,"),
        quick=True,
    ),
    Property(
        name="engine operand buffer of 4",
        claim="a word that is read was written before and is it; each fresh read takes the next; room for 4, no more",
        harness=lambda: OperandBufferHarness(4),
        method=Unbounded(cover_cycles=12),
        bug=SeededBug(
            module="engine.operand_buffer", old="give=released, take=self.put", new="give=self.release, take=self.put"
        ),
        quick=True,
    ),
    _loader(2, 1, old="end.eq(inner.final & outer.final)", new="end.eq(inner.final)"),
    _loader(1, 2, old="end | self.i.payload.last", new="end"),
    _drain(_config(_OUTPUT, rows=2, cols=4, lanes=1), old="with m.If(ended):", new="with m.If(ended & 0):"),
    _drain(
        _config(_OUTPUT, rows=2, cols=2, lanes=2),
        old="final_tile.eq(column.final & group.final)",
        new="final_tile.eq(group.final)",
    ),
    _jobs(
        _config(_OUTPUT, rows=2, cols=4, lanes=1),
        SeededBug(module="engine.core", old="last_left & dataflow.rests & ~failed", new="last_left & ~failed"),
    ),
    _jobs(
        _config(_OUTPUT, rows=2, cols=2, lanes=1),
        SeededBug(module="engine.tiler", old="config.drain_cycles - 1", new="config.drain_cycles - 2"),
    ),
    _jobs(
        _config(_OUTPUT, rows=2, cols=2, lanes=2),
        SeededBug(module="engine.core", old="delay(m, self.start & ~running", new="delay(m, self.start"),
    ),
    _jobs(
        _config(_WEIGHT, rows=1, cols=1, lanes=1),
        SeededBug(module="engine.core", old="last_left & dataflow.rests & ~failed", new="dataflow.rests & ~failed"),
        short=True,
    ),
    _prompt(
        _config(_OUTPUT, rows=2, cols=1, lanes=1),
        17,
        SeededBug(module="engine.tiler", old="may_end.eq(pace.over & ~", new="may_end.eq(pace.over & "),
    ),
)
