"""Proofs of the packer of Y, and of the skid buffer after it."""

from __future__ import annotations

from amaranth.hdl import Assert, Assume, Cat, Cover, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In

from systoliq.hw.engine.y_packer import YPacker
from systoliq.hw.skid_buffer import SkidBuffer

from ..property import Bounded, Method, Property, SeededBug, Unbounded
from .checkers import check_held, check_order
from .input_blind import blind

__all__ = ["PROPERTIES"]


class _Model:
    """Counts of the contents of a packer, and the position of the next result."""

    def __init__(self, dut: YPacker) -> None:
        lanes = dut.lanes
        self.put, self.take = dut.i.valid & dut.i.ready, dut.o.valid & dut.o.ready
        self.columns = Signal(range(lanes + 1))  # results of the beat that is put
        self.size = Signal(range(4 * lanes + 1))  # results in a beat
        self.slot = Signal(range(4 * lanes))  # position of the next result
        self.total = Signal(range(5 * lanes))  # position after this beat, without a job's end
        self.full = Signal()
        self.left = Signal.like(self.slot)
        self.completes = Signal(2)  # number of complete beats
        self.level = Signal(range(dut.latency + 3))  # beats that are complete and have not left
        self.ended = Signal()
        self.rest = Signal(range(4 * lanes))  # results of a job's last beat, 0 for all
        self.dropping = Signal()  # the contents, after an abort


class PackerHarness(wiring.Component):
    """`YPacker` against the place that each result must have: number j of a job in beat j div S, at j mod S.

    S is the number of results in a beat. Every beat but a job's last is full; the last holds the rest, and only it has
    ``last``. Complete beats leave in time, and beats are taken at full rate. After an abort, offers stay and jobs that
    had begun end; then the packer is as after reset.
    """

    def __init__(self, lanes: int, bits: int) -> None:
        self.lanes, self.bits = lanes, bits
        super().__init__(
            {
                "wide": In(1),
                "abort": In(1),
                "valid": In(1),
                "data": In(data.ArrayLayout(bits, lanes)),
                "others": In(range(max(lanes, 2))),  # results of a beat, but for the first
                "last": In(1),
                "ready": In(1),
                "mark": In(1),
                "lane": In(range(max(lanes, 2))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.dut = dut = YPacker(self.lanes, bits=self.bits)
        model = _Model(dut)
        self._connect(m, dut, model)
        check_held(m, dut.o.valid, dut.o.ready, dut.o.payload)
        self._count(m, dut, model)
        self._check_beats(m, dut, model)
        self._check_marked(m, dut, model)
        self._check_time(m, dut, model)
        self._check_abort(m, dut, model)
        if self.lanes > 1:
            m.d.comb += Cover(model.completes == 2)
        return m

    def _connect(self, m: Module, dut: YPacker, model: _Model) -> None:
        """Connect the packer's inputs: any values, but nothing is put while it drops, and ``wide`` changes only between
        jobs.
        """
        m.d.comb += [
            *(getattr(dut, name).eq(getattr(self, name)) for name in ("wide", "abort")),
            *(getattr(dut.i.payload, name).eq(getattr(self, name)) for name in ("data", "last")),
            dut.i.valid.eq(self.valid & ~model.dropping),
            dut.o.ready.eq(self.ready),
            Assume(self.others < self.lanes),
            model.columns.eq(self.others + 1),
            dut.i.payload.columns.eq(model.columns),
        ]
        wide_before, may_change = Signal(), Signal(init=1)
        m.d.sync += [wide_before.eq(self.wide), may_change.eq(dut.idle & (model.slot == 0) & ~model.put)]
        m.d.comb += Assume(may_change | (self.wide == wide_before))

    def _count(self, m: Module, dut: YPacker, model: _Model) -> None:
        """Update the model's counts; an abort resets them."""
        put, take, slot, left, level, ended = model.put, model.take, model.slot, model.left, model.level, model.ended
        m.d.comb += [
            model.size.eq(Mux(self.wide, self.lanes, 4 * self.lanes)),
            model.total.eq(slot + model.columns),
            model.full.eq(model.total >= model.size),
            left.eq(Mux(model.full, model.total - model.size, model.total)),
            model.completes.eq(Mux(put, model.full + (self.last & (left != 0)), 0)),
        ]
        m.d.sync += level.eq(level + model.completes - (take & ~model.dropping))
        with m.If(put):
            m.d.sync += slot.eq(Mux(self.last, 0, left))
            with m.If(self.last):
                m.d.sync += [ended.eq(1), model.rest.eq(left)]
            m.d.comb += Assert(~ended)
        with m.If(take & dut.o.payload.last):
            m.d.sync += ended.eq(0)
        with m.If(self.abort):
            m.d.sync += [slot.eq(0), level.eq(0), ended.eq(0)]

    def _check_beats(self, m: Module, dut: YPacker, model: _Model) -> None:
        """A beat is there if one is complete; it has ``last``, and holds less than it could, where it must."""
        beat, lanes = dut.o.payload, self.lanes
        with m.If(dut.o.valid & ~model.dropping):
            last = model.ended & (model.level == 1)
            results = Mux(last & (model.rest != 0), model.rest, model.size)
            keep = Cat((results > Mux(self.wide, i // 4, i)) for i in range(4 * lanes))
            m.d.comb += [Assert(model.level != 0), Assert(beat.last == last), Assert(beat.keep == keep)]
        m.d.comb += Cover(model.take & beat.last & (model.rest == 1))

    def _check_marked(self, m: Module, dut: YPacker, model: _Model) -> None:
        """One result that the solver marks leaves in its beat, at its place."""
        beat, take, size, narrow = dut.o.payload, model.take, model.size, self.bits // 4
        marked = Signal()
        kept, place, before = Signal(self.bits), Signal.like(model.slot), Signal.like(model.level)
        result = self.data.as_value().word_select(self.lane, self.bits)
        at = Signal(range(5 * self.lanes))
        m.d.comb += at.eq(model.slot + self.lane)
        with m.If(self.mark & model.put & ~marked & (self.lane < model.columns)):
            m.d.sync += [
                marked.eq(1),
                kept.eq(Mux(self.wide, result, result[:narrow])),
                place.eq(Mux(at >= size, at - size, at)),
                before.eq(model.level - take + (at >= size)),
            ]
        with m.Elif(marked & take):
            m.d.sync += [marked.eq(before != 0), before.eq(before - 1)]
        with m.If(dut.o.valid & ~model.dropping & marked & (before == 0)):
            found = Mux(self.wide, beat.data.word_select(place, self.bits), beat.data.word_select(place, narrow))
            m.d.comb += Assert(found == kept)
        with m.If(self.abort):
            m.d.sync += marked.eq(0)
        m.d.comb += Cover(marked & take & (before == 0) & ~self.wide)

    def _check_time(self, m: Module, dut: YPacker, model: _Model) -> None:
        """Complete beats leave in time, and beats are taken at full rate."""
        ended = model.ended
        over = Signal()  # `YPacker.extra`
        modulo = model.total % self.lanes
        with m.If(model.put & self.last):
            m.d.sync += over.eq((modulo != 0) & (modulo < model.columns))
        late = Signal(range(dut.latency + 2))
        m.d.sync += late.eq(Mux((model.level != 0) & ~dut.o.valid, late + 1, 0))
        m.d.comb += Assert(late < dut.latency + (ended & over))
        with m.If(self.abort):
            m.d.sync += late.eq(0)
        ready_before, ended_before = Signal(), Signal()
        m.d.sync += [ready_before.eq(self.ready & ~(ended | ended_before)), ended_before.eq(ended)]
        with m.If(ready_before & ~ended):
            m.d.comb += Assert(dut.i.ready)

    def _check_abort(self, m: Module, dut: YPacker, model: _Model) -> None:
        """After an abort, an offered beat leaves and a job that had begun ends, within three beats."""
        take, dropping = model.take, model.dropping
        begun = Signal()
        went = Signal(range(4))
        with m.If(take):
            m.d.sync += begun.eq(~dut.o.payload.last)
        with m.If(dropping):
            m.d.sync += went.eq(went + take)
            m.d.comb += Assert(~take | (went != 3))
            silent = Signal(2)
            m.d.sync += silent.eq(Mux(dut.o.valid | self.abort, 0, silent + 1))
            m.d.comb += Assert(dut.idle | dut.o.valid | (silent == 0))
            with m.If(dut.idle):
                m.d.comb += Assert(~begun)
                m.d.sync += [dropping.eq(0), silent.eq(0)]
        with m.If(dut.idle):
            m.d.comb += Assert(~dut.o.valid & (model.level == 0) & ~model.ended)
        with m.If(self.abort):
            m.d.sync += [dropping.eq(1), went.eq(0)]
        m.d.comb += Cover(dropping & take & (went == 2))


class SkidHarness(wiring.Component):
    """The skid buffer keeps order and offers, shows a payload a cycle after it came, and is ready when one has left."""

    def __init__(self) -> None:
        super().__init__({"valid": In(1), "payload": In(2), "ready": In(1), "mark": In(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.dut = dut = SkidBuffer(2)
        m.d.comb += [dut.i.valid.eq(self.valid), dut.i.payload.eq(self.payload), dut.o.ready.eq(self.ready)]
        check_held(m, dut.o.valid, dut.o.ready, dut.o.payload)
        inside = check_order(
            m,
            mark=self.mark,
            put=dut.i.valid & dut.i.ready,
            put_payload=self.payload,
            take=dut.o.valid & dut.o.ready,
            head=dut.o.valid,
            head_payload=dut.o.payload,
            most=2,
        )
        m.d.comb += [Assert(dut.o.valid == (inside != 0)), Assert(dut.i.ready == (inside != 2))]
        return m


def _packer(lanes: int, method: Method, old: str, new: str, *, bits: int = 4, quick: bool = False) -> Property:
    return Property(
        name=f"engine Y packer, {lanes} lanes",
        claim="results leave in order, each once, every beat full but the last; offers held, jobs ended after an abort",
        harness=lambda: PackerHarness(lanes, bits),
        method=method,
        bug=SeededBug(module="engine.y_packer", old=old, new=new),
        quick=quick,
    )


PROPERTIES = (
    Property(
        name="engine skid buffer",
        claim="payloads leave in order, each once, held until taken, one cycle late; there is room for two",
        harness=SkidHarness,
        method=Unbounded(cover_cycles=8),
        bug=SeededBug(
            module="skid_buffer",
            old="offers.eq(self.i.valid | keeps | waits)",
            new="offers.eq(self.i.valid | waits)",
        ),
        quick=True,
    ),
    blind(
        "skid buffer",
        lambda: SkidBuffer(2),
        SeededBug(module="skid_buffer", old="ready.eq(~keeps)", new="ready.eq(~keeps | self.o.ready)"),
    ),
    _packer(1, Unbounded(cover_cycles=30), "complete.eq(still_begun)", "complete.eq(begun)", quick=True),
    _packer(2, Bounded(16), "beyond = place.full & (place.left != 0)", "beyond = place.full"),
    _packer(3, Bounded(16), "waiting[lane], results[lane])", "results[lane], waiting[lane])"),
)
