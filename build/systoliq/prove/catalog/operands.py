"""Proofs of the blocks that carry operands: credit, operand buffer and loader."""

from __future__ import annotations

from amaranth.hdl import Assert, Assume, Cat, Cover, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In

from systoliq.hw.credit import Credit
from systoliq.hw.delay import delay
from systoliq.hw.engine.loader import Loader
from systoliq.hw.engine.operand_buffer import OperandBuffer

from ..property import Property, SeededBug, Unbounded

__all__ = ["PROPERTIES"]

_BITS = 2  # of a payload: the blocks move payloads and never look into them
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
    """The operand buffer against counts of its words, unread and kept, and one word that the solver marks.

    A read is fresh, of the next word that was never read, if there is one; or it is of any word that was read and not
    released. Words are also looked at without being read. The oldest word is released after it was read, or in the
    cycle of its read.
    """

    def __init__(self, depth: int) -> None:
        self._depth = depth
        super().__init__(
            {
                "valid": In(1),
                "payload": In(_BITS),
                "look": In(1),
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
        may_again = ~self.fresh & (self.again < kept)
        again = self.read & may_again
        release = self.release & (fresh | (kept != 0))
        m.d.comb += [
            dut.put.eq(put),
            dut.i.eq(self.payload),
            dut.look.eq(dut.read | (self.look & (may_again | (self.fresh & available)))),
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
            room.eq(Mux(put, dut.more, dut.room)),
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
        looks = Value.cast(Cat(dut.look & marked & (dut.address == place), word))
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
                "more": In(1),
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
        m.d.sync += [before.eq(lengths), room.eq(Mux(passed, self.more, self.room))]
        m.d.comb += [
            dut.i.valid.eq(self.valid),
            dut.i.payload.data.eq(self.payload),
            dut.i.payload.last.eq(self.last),
            dut.room.eq(self.room),
            *(getattr(dut, name).eq(getattr(self, name)) for name in ("more", "start", "halt", "length", "k")),
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


def _loader(span: int, depth: int, *, old: str, new: str) -> Property:
    return Property(
        name=f"engine loader, span {span}, depth {depth}",
        claim="exactly a job's words pass, none outside a job; early and late exactly where a word's last is wrong",
        harness=lambda: LoaderHarness(span, depth),
        method=Unbounded(cover_cycles=16),
        bug=SeededBug(module="engine.loader", old=old, new=new),
        quick=True,
    )


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
    _loader(1, 2, old="goes_on & not_last, waits", new="goes_on, waits"),
)
