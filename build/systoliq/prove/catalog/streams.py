"""Proofs of the stream blocks: replay buffer, result buffer, sequencer, check of last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amaranth.hdl import Assert, Assume, Cover, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In

from systoliq.hw.config import ArrayConfig
from systoliq.hw.counter import successor
from systoliq.hw.last_check import LastCheck
from systoliq.hw.replay_buffer import ReplayBuffer
from systoliq.hw.result_buffer import ResultBuffer
from systoliq.hw.schedule import Schedule
from systoliq.hw.sequencer import Sequencer

from ..property import Method, Property, SeededBug, Unbounded
from .checkers import ReadyBlindHarness, check_held, check_order

__all__ = ["PROPERTIES"]

_BITS = 2  # of a payload: the blocks move payloads and never look into them


class _StreamHarness(wiring.Component):
    """A block between two streams: free ``valid``, ``payload`` and ``ready``, and a free choice of what to watch."""

    def __init__(self) -> None:
        super().__init__({"valid": In(1), "payload": In(_BITS), "ready": In(1), "mark": In(1)})

    def between(self, m: Module, dut: wiring.Component) -> tuple[Value, Value]:
        """Connect ``dut`` and check that it holds its offers; returns (a payload enters, a payload leaves)."""
        m.submodules.dut = dut
        m.d.comb += [dut.i.valid.eq(self.valid), dut.i.payload.eq(self.payload), dut.o.ready.eq(self.ready)]
        check_held(m, dut.o.valid, dut.o.ready, dut.o.payload)
        return dut.i.valid & dut.i.ready, dut.o.valid & dut.o.ready


class ReplayHarness(_StreamHarness):
    """Each packet comes out ``times`` times, in order; one that is complete comes out, two at least find room."""

    def __init__(self, beats: int, times: int, *, registered: bool) -> None:
        self.beats, self.times, self.registered = beats, times, registered
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        dut = ReplayBuffer(
            unsigned(_BITS), beats=self.beats, times=self.times, cells="portable", registered=self.registered
        )
        put, take = self.between(m, dut)
        put_beat, take_beat = Signal(range(self.beats + 1)), Signal(range(self.beats + 1))
        repeat = Signal(range(self.times + 1))
        packets = Signal(range(5))  # complete ones inside
        completes = put & (put_beat == self.beats - 1)
        ends = take & (take_beat == self.beats - 1)
        leaves = ends & (repeat == self.times - 1)
        m.d.sync += packets.eq(packets + completes - leaves)
        with m.If(put):
            m.d.sync += put_beat.eq(successor(put_beat, self.beats))
        with m.If(take):
            m.d.sync += take_beat.eq(successor(take_beat, self.beats))
        with m.If(ends):
            m.d.sync += repeat.eq(successor(repeat, self.times))

        # Watch one beat: which of its packet, and behind how many other packets.
        marked = Signal()
        kept, place, before = Signal(_BITS), Signal.like(put_beat), Signal.like(packets)
        with m.If(self.mark & put & ~marked):
            m.d.sync += [marked.eq(1), kept.eq(self.payload), place.eq(put_beat), before.eq(packets - leaves)]
        with m.Elif(marked & leaves):
            m.d.sync += [marked.eq(before != 0), before.eq(Mux(before == 0, 0, before - 1))]
        with m.If(marked & (before == 0) & (take_beat == place) & dut.o.valid):
            m.d.comb += Assert(dut.o.payload == kept)

        complete: Value = packets
        for cycles in range(1, dut.latency):  # complete ones that were so, and inside, that many cycles ago
            before_that, complete = complete, Signal(range(5), name=f"complete_{cycles}")
            m.d.sync += complete.eq(before_that - leaves)
        with m.If(dut.o.valid):
            m.d.comb += Assert(packets != 0)
        with m.If(complete != 0):
            m.d.comb += Assert(dut.o.valid)
        with m.If(packets < 2):
            m.d.comb += Assert(dut.i.ready)
        m.d.comb += [Cover(marked & leaves & (before == 1)), Cover(packets == 2)]
        return m


class ResultBufferHarness(wiring.Component):
    """The result buffer in its world: tiles are reserved only with credit, and their results come at any time.

    The last lane's part of a result never comes before the others'. No push may find its memory full: pushed results
    leave, complete and in order, and a reserved tile's credit returns when its last beat leaves.
    """

    def __init__(self, tile_beats: int, tiles: int, cells: str) -> None:
        self.tile_beats, self.tiles, self.cells = tile_beats, tiles, cells
        super().__init__(
            {
                "want": In(1),
                "push": In(2),
                "short": In(1),
                "y": In(data.ArrayLayout(1, 2)),
                "ready": In(1),
                "mark": In(2),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        flags = data.StructLayout({"tile_last": 1})
        room = {"tile_beats": self.tile_beats, "tiles": self.tiles}
        dut = ResultBuffer(unsigned(1), flags, lanes=2, cells=self.cells, **room)
        m.submodules.dut = dut
        most = self.tile_beats * self.tiles
        booked = Signal(range(self.tiles + 1))  # tiles whose last result has not been pushed by the last lane
        beats = [Signal(range(self.tile_beats + 1), name=f"beats_{lane}") for lane in range(2)]
        lead = Signal(range(most + 1))  # results pushed by lane 0 and not yet by lane 1
        ahead = Signal(range(self.tiles + 1))  # tiles finished by lane 0 and not yet by lane 1
        m.d.comb += [dut.reserve.eq(self.want & dut.credit), dut.y.eq(self.y), dut.o.ready.eq(self.ready)]
        allowed = (booked != ahead, (lead != 0) | dut.push[0])
        # Lane 0 decides whether a tile is a short one (a ragged last tile); lane 1 follows: all tiles of one length.
        length = self.tile_beats - (self.short if self.tile_beats > 1 else 0)
        ends = []
        for lane in range(2):
            m.d.comb += dut.push[lane].eq(self.push[lane] & allowed[lane])
            end = dut.push[lane] & (beats[lane] == length - 1)
            with m.If(dut.push[lane]):
                m.d.sync += beats[lane].eq(Mux(end, 0, beats[lane] + 1))
            ends.append(end)
        short_before, started = Signal(), Signal()
        m.d.sync += [short_before.eq(self.short), started.eq(1)]
        with m.If(started):
            m.d.comb += Assume(self.short == short_before)
        m.d.comb += dut.flags.tile_last.eq(beats[1] == length - 1)
        m.d.sync += [
            booked.eq(booked + dut.reserve - ends[1]),
            ahead.eq(ahead + ends[0] - ends[1]),
            lead.eq(lead + dut.push[0] - dut.push[1]),
        ]
        taken = dut.o.valid & dut.o.ready
        check_held(m, dut.o.valid, dut.o.ready, dut.o.payload)
        first, final = (
            check_order(
                m,
                mark=self.mark[lane],
                put=dut.push[lane],
                put_payload=self.y[lane],
                take=taken,
                head=dut.o.valid,
                head_payload=dut.o.payload.data[lane],
                most=most,
            )
            for lane in range(2)
        )
        waited: Value = final  # complete, and there some cycles ago
        for cycle in range(1, ResultBuffer.latency_of(self.cells)):
            before = Signal(range(most + 1), name=f"before_{cycle}")
            m.d.sync += before.eq(waited - taken)
            waited = before
        with m.If(waited != 0):
            m.d.comb += Assert(dut.o.valid)
        idle, was_idle = (booked == 0) & (first == 0), Signal()
        m.d.sync += was_idle.eq(idle)
        with m.If(idle & was_idle):
            m.d.comb += Assert(dut.credit)
        promised, promise = Signal(), Signal()
        m.d.sync += [promised.eq(~dut.reserve), promise.eq(dut.credit_soon)]
        with m.If(promised):
            m.d.comb += Assert(dut.credit == promise)
        m.d.comb += Cover(~dut.credit & (lead != 0) & taken)
        return m


class SequencerHarness(wiring.Component):
    """The sequencer against a count of beats: every beat in its place, no tile's end without credit or too early."""

    def __init__(self, *, k: int, n: int, rows: int, cols: int) -> None:
        self.schedule = Schedule(k=k, n=n, config=ArrayConfig(rows=rows, cols=cols))
        super().__init__({"valid": In(1), "payload": In(8), "last": In(1), "credit": In(1), "credit_soon": In(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        schedule = self.schedule
        dut = Sequencer(schedule, data.ArrayLayout(unsigned(8), 1))
        m.submodules.dut = dut
        m.d.comb += [
            dut.i.valid.eq(self.valid),
            dut.i.payload.data[0].eq(self.payload),
            dut.i.payload.last.eq(self.last),
            dut.credit.eq(self.credit),
            dut.credit_soon.eq(self.credit_soon),
        ]
        promised, promise = Signal(), Signal()  # the credit of this cycle was known in the one before
        m.d.sync += [promised.eq(~dut.last), promise.eq(self.credit_soon)]
        with m.If(promised):
            m.d.comb += Assume(self.credit == promise)
        beat = Signal(range(schedule.beats + 1))
        tile = Signal(range(schedule.column_tiles + 1))
        age = Signal(
            range(schedule.drain_cycles + 1), init=schedule.drain_cycles
        )  # of the last beat of the tile before
        taken = self.valid & dut.i.ready
        ends = beat == schedule.beats - 1
        old = age == schedule.drain_cycles
        with m.If(~old):
            m.d.sync += age.eq(age + 1)
        with m.If(taken):
            m.d.sync += beat.eq(successor(beat, schedule.beats))
            with m.If(ends):
                m.d.sync += [tile.eq(successor(tile, schedule.column_tiles)), age.eq(1)]
        m.d.comb += [
            Assert(dut.i.ready == (~ends | (self.credit & old))),
            Assert(dut.first == (taken & (beat == 0))),
            Assert(dut.last == (taken & ends)),
            Assert(dut.word[0] == Mux(taken, self.payload, 0)),
            Cover(dut.last & (tile == schedule.column_tiles - 1) & self.last),
            Cover(self.valid & ~dut.i.ready & self.credit) if schedule.drain_cycles > schedule.beats else Cover(1),
        ]
        with m.If(taken):
            m.d.comb += Assert(dut.address == tile * schedule.beats + beat)
        with m.If(dut.last):
            m.d.comb += Assert(dut.batch_last == (self.last & (tile == schedule.column_tiles - 1)))
        return m


class LastCheckHarness(wiring.Component):
    """`LastCheck` against a count of the beats to come: an error after a misplaced last, and never otherwise."""

    def __init__(self, beats: int) -> None:
        self.beats = beats
        super().__init__({"taken": In(1), "last": In(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.dut = dut = LastCheck(self.beats)
        m.d.comb += [dut.taken.eq(self.taken), dut.last.eq(self.last)]
        to_come = Signal(range(self.beats), init=self.beats - 1)  # beats of this group after the next one
        misplaced, misplaced_before = Signal(), Signal()  # up to the cycle before, and up to two cycles before
        m.d.sync += misplaced_before.eq(misplaced)
        with m.If(self.taken):
            m.d.sync += to_come.eq(Mux(to_come == 0, self.beats - 1, to_come - 1))
            with m.If(self.last & (to_come != 0)):
                m.d.sync += misplaced.eq(1)
        m.d.comb += [
            Assert(dut.error == misplaced_before),
            Cover(dut.error if self.beats > 1 else self.taken & self.last),
            Cover(self.taken & self.last & (to_come == 0) & ~dut.error),
        ]
        return m


def _replay(beats: int, times: int, *, registered: bool = False, quick: bool = False) -> Property:
    return Property(
        name=f"replay buffer, {beats} beats {times} times" + ", registered" * registered,
        claim="each packet comes whole and in order as often as asked; offers are held; no side waits without reason",
        harness=lambda: ReplayHarness(beats, times, registered=registered),
        method=Unbounded(cover_cycles=2 * beats + beats * times + 7),
        bug=SeededBug(module="replay_buffer", old="self.i.ready.eq(room.any)", new="self.i.ready.eq(1)"),
        quick=quick,
    )


def _result_buffer(
    tile_beats: int, tiles: int, method: Method, *, cells: str = "portable", quick: bool = False
) -> Property:
    return Property(
        name=f"result buffer, {cells}, {tiles} tiles of {tile_beats}",
        claim="with tiles booked on credit no memory overflows; both lanes' parts leave together, in order, each once",
        harness=lambda: ResultBufferHarness(tile_beats, tiles, cells),
        method=method,
        bug=SeededBug(
            module="result_buffer",
            old="Credit(m, self.tiles,",
            new="Credit(m, self.tiles + 1,",
        ),
        quick=quick,
    )


def _sequencer(bug: SeededBug, *, k: int, n: int, rows: int, cols: int, quick: bool = False) -> Property:
    return Property(
        name=f"sequencer, K = {k}, N = {n}, {rows} x {cols}",
        claim="every beat gets its address and marks; a tile ends only with credit and after the last one has drained",
        harness=lambda: SequencerHarness(k=k, n=n, rows=rows, cols=cols),
        method=Unbounded(cover_cycles=40),
        bug=bug,
        quick=quick,
    )


def _last_check(beats: int) -> Property:
    return Property(
        name=f"check of last, groups of {beats}",
        claim="error rises two cycles after a last that ends no group, stays, and is 0 without one",
        harness=lambda: LastCheckHarness(beats),
        method=Unbounded(cover_cycles=2 * beats + 6),
        bug=SeededBug(module="last_check", old="with m.If(last & (beat != self.beats - 1))", new="with m.If(last)"),
        quick=beats == 3,
    )


def _drive(dut: wiring.Component, m: Module, free: wiring.Component) -> wiring.Component:
    m.d.comb += [dut.i.valid.eq(free.valid), dut.i.payload.eq(free.payload)]
    return dut.o


def _blind(name: str, make: Callable[[], Any], bug: SeededBug) -> Property:
    return Property(
        name=f"{name}: valid is blind to ready",
        claim="in no reachable state does ready change valid or what is offered in the same cycle",
        harness=lambda: ReadyBlindHarness(make, {"valid": 1, "payload": _BITS}, _drive),
        method=Unbounded(cover_cycles=12),
        bug=bug,
        quick=True,
    )


_CREDIT = SeededBug(
    module="sequencer",
    old="may_end: Value = self.credit if beats == 1 else self.credit_soon",
    new="may_end: Value = self.credit | ~self.credit",
)
_PACE = SeededBug(
    module="sequencer",
    old="pace.eq(self.schedule.drain_cycles - 1)",
    new="pace.eq(self.schedule.drain_cycles - 2)",
)

PROPERTIES = (
    *(_replay(beats, times, quick=beats == 2) for beats, times in ((1, 2), (2, 2), (3, 2), (3, 3), (4, 3))),
    *(_replay(beats, times, registered=True, quick=beats == 2) for beats, times in ((1, 2), (2, 2), (3, 2))),
    _blind(
        "replay buffer",
        lambda: ReplayBuffer(unsigned(_BITS), beats=2, times=2, cells="portable", registered=True),
        SeededBug(
            module="replay_buffer", old="self.o.valid.eq(out.valid)", new="self.o.valid.eq(out.valid & self.o.ready)"
        ),
    ),
    _result_buffer(1, 2, Unbounded(cover_cycles=10), quick=True),
    _result_buffer(1, 3, Unbounded(cover_cycles=12)),
    _result_buffer(2, 2, Unbounded(cover_cycles=14)),
    _result_buffer(1, 3, Unbounded(cover_cycles=12), cells="ice40"),
    *(_last_check(beats) for beats in (1, 3, 8)),
    _sequencer(_CREDIT, k=3, n=2, rows=1, cols=1, quick=True),
    _sequencer(_PACE, k=2, n=5, rows=3, cols=2),
)
