"""Proofs of the engine's edge: its bus, its status, and the packer of Y."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amaranth.hdl import Assert, Assume, Cat, Cover, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In

from systoliq.hw.engine.axi_lite import AxiLite
from systoliq.hw.engine.registers import ERRORS
from systoliq.hw.engine.skid_buffer import SkidBuffer
from systoliq.hw.engine.status import Status
from systoliq.hw.engine.y_packer import YPacker
from systoliq.hw.hierarchy import mark_used

from ..property import Bounded, Method, Property, SeededBug, Unbounded
from .checkers import check_held, check_order

__all__ = ["PROPERTIES"]

_ADDRESS_BITS = 4  # of the bus: addresses are moved, and looked at by the surroundings alone
_START_WHILE_BUSY = ERRORS["START_WHILE_BUSY"][0]


class _BusHarness(wiring.Component):
    """`AxiLite` with a free master, and free surroundings that know an address or do not, a cycle after they see it."""

    def __init__(self, *channels: str) -> None:
        inputs = {
            name: In(member.shape)
            for name, member in AxiLite(_ADDRESS_BITS).signature.members.items()
            if member.flow == wiring.In and name.startswith(tuple(f"s_{channel}" for channel in channels))
        }
        super().__init__(inputs | {"known": In(1 << (_ADDRESS_BITS - 2)), "data": In(32)})

    def bus(self, m: Module) -> AxiLite:
        """The bus, with this harness' inputs; whether an address is known does not change."""
        dut = AxiLite(_ADDRESS_BITS)
        m.submodules.dut = dut
        for name in self.signature.members:
            if name in dut.signature.members:
                m.d.comb += getattr(dut, name).eq(getattr(self, name))
        before, started = Signal.like(self.known), Signal()
        m.d.sync += [before.eq(self.known), started.eq(1)]
        with m.If(started):
            m.d.comb += Assume(self.known == before)
        m.d.comb += dut.read_data.eq(self.data)
        m.d.sync += [
            dut.write_known.eq(self.known.bit_select(dut.write_address[2:], 1)),
            dut.read_known.eq(self.known.bit_select(dut.read_address[2:], 1)),
        ]
        return dut


class BusWriteHarness(_BusHarness):
    """Each write acts once, with the address and data that belong together, and is answered once, with what it did."""

    def __init__(self) -> None:
        super().__init__("aw", "w", "b")

    def elaborate(self, platform: object) -> Module:
        m = Module()
        dut = self.bus(m)
        check_held(m, dut.s_bvalid, dut.s_bready, dut.s_bresp)
        got_address, got_data = dut.s_awvalid & dut.s_awready, dut.s_wvalid & dut.s_wready
        answered = dut.s_bvalid & dut.s_bready
        # What was taken and is not answered: one address and one data at the most.
        address, data, whole = Signal(_ADDRESS_BITS - 2), Signal(32), Signal()
        has_address, has_data, acted = Signal(), Signal(), Signal()
        with m.If(got_address):
            m.d.sync += [address.eq(dut.s_awaddr[2:]), has_address.eq(1)]
            m.d.comb += Assert(~has_address | answered)
        with m.If(got_data):
            m.d.sync += [data.eq(dut.s_wdata), whole.eq(dut.s_wstrb.all()), has_data.eq(1)]
            m.d.comb += Assert(~has_data | answered)
        right = self.known.bit_select(address, 1) & whole
        with m.If(dut.write):
            m.d.sync += acted.eq(1)
            m.d.comb += [
                Assert(has_address & has_data & ~acted & right),
                Assert(dut.write_address == address << 2),
                Assert(dut.write_data == data),
            ]
        # Registers do the write in the next two cycles, and the next one comes in the fourth or later.
        recent = Signal(3)
        shown = Cat(dut.write_address, dut.write_data)
        shown_before = Signal(len(shown))
        m.d.sync += [recent.eq(Cat(dut.write, recent[:2])), shown_before.eq(shown)]
        with m.If(recent != 0):
            m.d.comb += Assert(~dut.write)
        with m.If(recent[:2] != 0):
            m.d.comb += Assert(shown == shown_before)
        with m.If(dut.s_bvalid):
            m.d.comb += [
                Assert(has_address & has_data),
                Assert(dut.s_bresp == Mux(right, 0, 2)),
                Assert(acted == right),
            ]
        with m.If(answered):
            m.d.sync += [acted.eq(0), has_address.eq(got_address), has_data.eq(got_data)]
        # Nothing waits for ever: with both, the answer comes two cycles later.
        both_before = Signal(2)
        m.d.sync += both_before.eq(Mux(answered, 0, Cat(has_address & has_data, both_before[0])))
        with m.If(both_before[1]):
            m.d.comb += Assert(dut.s_bvalid)
        idle = Signal(2)
        m.d.sync += idle.eq(Cat(~(has_address | has_data | got_address | got_data | answered), idle[0]))
        with m.If(idle.all()):
            m.d.comb += [Assert(dut.s_awready & dut.s_wready)]
        m.d.comb += [Cover(dut.write), Cover(answered & (dut.s_bresp == 2) & whole), Cover(has_data & ~has_address)]
        return m


class BusReadHarness(_BusHarness):
    """Each read is answered once, with what the surroundings gave for its address in the cycle before the answer."""

    def __init__(self) -> None:
        super().__init__("ar", "r")

    def elaborate(self, platform: object) -> Module:
        m = Module()
        dut = self.bus(m)
        check_held(m, dut.s_rvalid, dut.s_rready, Cat(dut.s_rdata, dut.s_rresp))
        got, answered = dut.s_arvalid & dut.s_arready, dut.s_rvalid & dut.s_rready
        address, asked, offered = Signal(_ADDRESS_BITS - 2), Signal(), Signal()
        before = Signal(32)
        m.d.sync += [before.eq(self.data), offered.eq(dut.s_rvalid & ~answered)]
        with m.If(got):
            m.d.sync += [address.eq(dut.s_araddr[2:]), asked.eq(1)]
            m.d.comb += Assert(~asked)
        with m.Elif(answered):
            m.d.sync += asked.eq(0)
        with m.If(asked):
            m.d.comb += Assert(dut.read_address == address << 2)
        with m.If(dut.s_rvalid):
            m.d.comb += [Assert(asked), Assert(dut.s_rresp == Mux(self.known.bit_select(address, 1), 0, 2))]
            with m.If(~offered):
                m.d.comb += Assert(dut.s_rdata == before)
        asked_before = Signal(2)
        m.d.sync += asked_before.eq(Mux(answered, 0, Cat(asked, asked_before[0])))
        with m.If(asked_before[1]):
            m.d.comb += Assert(dut.s_rvalid)
        idle = Signal(2)
        m.d.sync += idle.eq(Cat(~(asked | got), idle[0]))
        with m.If(idle.all()):
            m.d.comb += Assert(dut.s_arready)
        m.d.comb += [Cover(answered & (dut.s_rresp == 0)), Cover(answered & (dut.s_rresp == 2))]
        return m


class InputBlindHarness(wiring.Component):
    """Two copies of a block that have seen the same: whatever they see in this cycle, their outputs are equal.

    Outputs on the inner side of the bus are left out. Registers without reset begin as they like, but alike.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        model = make()
        mark_used(model)
        widths = {
            "__".join(map(str, path)): len(Value.cast(value))
            for path, member, value in model.signature.flatten(model)
            if member.flow == wiring.In
        }
        super().__init__(
            {f"{copy}_{name}": In(width) for name, width in widths.items() for copy in ("one", "other")}
            | {"apart": In(1)}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        duts = [self._make() for _ in range(2)]
        m.submodules.one, m.submodules.other = duts
        before, started = Signal(), Signal()
        m.d.sync += [before.eq(before | self.apart), started.eq(1)]
        with m.If(~started):
            m.d.comb += Assume(~self.apart)
        ports = [list(dut.signature.flatten(dut)) for dut in duts]
        for (path, member, one), (_, _, other) in zip(*ports, strict=True):
            one, other = Value.cast(one), Value.cast(other)
            if member.flow == wiring.In:
                first, second = (getattr(self, f"{copy}_{'__'.join(map(str, path))}") for copy in ("one", "other"))
                m.d.comb += [one.eq(first), other.eq(Mux(self.apart, second, first))]
            elif not str(path[0]).startswith(("write", "read")):
                with m.If(~started):
                    m.d.comb += Assume(one == other)
                with m.Elif(~before):
                    m.d.comb += Assert(one == other)
        m.d.comb += Cover(self.apart & ~before)
        return m


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
        start, clear, acknowledge = Signal(), Signal(init=1), Signal()  # reset clears
        for command, port in ((start, self.start), (clear, self.clear), (acknowledge, self.acknowledge)):
            m.d.sync += command.eq(self.write & port)

        # The core: busy from a start on; then it ends, or fails and stands until the clear.
        core_busy = Signal()
        completed = Signal()  # results of a job that ended may still be on their way
        fatal = Signal(8)  # the first since the last clear
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
        started = Signal()
        m.d.sync += started.eq(1)
        with m.If(~started):
            m.d.comb += Assume(self.drained)

        busy_before, done_before = Signal(), Signal()
        m.d.sync += [busy_before.eq(dut.busy), done_before.eq(dut.done)]
        if self._aspect == "error":
            early = Signal()  # a start that came while busy was not forgotten yet
            with m.If((start & dut.busy) | clear):
                m.d.sync += early.eq(start)
            with m.Elif(acknowledge):
                m.d.sync += early.eq(0)
            with m.If(fatal != 0):
                m.d.comb += Assert(dut.error == fatal)
            with m.Else():
                m.d.comb += Assert(dut.error == Mux(early, _START_WHILE_BUSY, 0))
            m.d.comb += [Cover((fatal != 0) & early), Cover((self.core_error != 0) & acknowledge), Cover(clear & early)]
        if self._aspect == "start":
            asked, cleared = Signal(), Signal()
            m.d.sync += [asked.eq(start & ~dut.busy), cleared.eq(clear)]
            m.d.comb += [Assert(dut.core_start == asked), Assert(dut.core_clear == clear)]
            with m.If(dut.core_start):
                m.d.comb += [Assert(~core_busy & (fatal == 0)), Assert(self.drained & ~cleared)]
            with m.If(dut.core_start | core_busy | ~self.drained | clear | (fatal != 0)):
                m.d.comb += Assert(dut.busy)
            commanded = Signal(2)  # in the last two cycles
            m.d.sync += commanded.eq(Cat(self.write & (self.start | self.clear), commanded[0]))
            with m.If(dut.busy & ~busy_before & started):
                m.d.comb += Assert(commanded != 0)
            rests = Signal()  # there is nothing to wait for
            m.d.sync += rests.eq(~(dut.core_start | core_busy | ~self.drained | clear | start | (fatal != 0)))
            with m.If(rests & ~dut.core_start & self.drained & ~clear):
                m.d.comb += Assert(~dut.busy)
            m.d.comb += [Cover(dut.core_start & dut.core_clear), Cover(start & ~self.drained)]
        if self._aspect == "done":
            complete_before, forgotten = Signal(), Signal()
            m.d.sync += [
                complete_before.eq(completed & self.drained & ~clear & ~dut.core_start),
                forgotten.eq(acknowledge | clear | (start & ~dut.busy)),
            ]
            waiting = Signal()  # a job that ended has not been told of
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
            m.d.comb += [Cover(dut.done & ~done_before), Cover(completed & ~self.drained), Cover(forgotten & dut.done)]
        return m


class PackerHarness(wiring.Component):
    """`YPacker` against the place that each result must have: number j of a job in beat j div S, at j mod S.

    S is what a beat holds. Every beat but a job's last is full, the last holds what is left and nothing else has
    ``last``; what is complete comes out in time, and beats are taken at full rate. After an abort offers stay, jobs
    that had begun end, and then everything is as new.
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
        lanes, narrow = self.lanes, self.bits // 4
        m.submodules.dut = dut = YPacker(lanes, bits=self.bits)
        beat = dut.o.payload
        put, take = dut.i.valid & dut.i.ready, dut.o.valid & dut.o.ready
        columns = Signal(range(lanes + 1))
        size = Signal(range(4 * lanes + 1))
        slot = Signal(range(4 * lanes))  # where the next result goes
        level = Signal(range(dut.latency + 3))  # beats that are complete and have not left
        ended = Signal()
        rest = Signal(range(4 * lanes))  # results of a job's last beat, 0 for all
        dropping = Signal()  # what is inside, after an abort
        m.d.comb += [
            *(getattr(dut, name).eq(getattr(self, name)) for name in ("wide", "abort")),
            *(getattr(dut.i.payload, name).eq(getattr(self, name)) for name in ("data", "last")),
            dut.i.valid.eq(self.valid & ~dropping),
            dut.o.ready.eq(self.ready),
            size.eq(Mux(self.wide, lanes, 4 * lanes)),
            Assume(self.others < lanes),
            columns.eq(self.others + 1),
            dut.i.payload.columns.eq(columns),
        ]
        check_held(m, dut.o.valid, dut.o.ready, beat)
        wide_before, may_change = Signal(), Signal(init=1)
        m.d.sync += [wide_before.eq(self.wide), may_change.eq(dut.idle & (slot == 0) & ~put)]
        m.d.comb += Assume(may_change | (self.wide == wide_before))

        total = Signal(range(5 * lanes))
        full = Signal()
        left = Signal.like(slot)
        m.d.comb += [
            total.eq(slot + columns),
            full.eq(total >= size),
            left.eq(Mux(full, total - size, total)),
        ]
        with m.If(put):
            m.d.sync += slot.eq(Mux(self.last, 0, left))
            with m.If(self.last):
                m.d.sync += [ended.eq(1), rest.eq(left)]
            m.d.comb += Assert(~ended)
        completes = Signal(2)
        m.d.comb += completes.eq(Mux(put, full + (self.last & (left != 0)), 0))
        m.d.sync += level.eq(level + completes - (take & ~dropping))

        marked = Signal()
        kept, place, before = Signal(self.bits), Signal.like(slot), Signal.like(level)
        result = self.data.as_value().word_select(self.lane, self.bits)
        at = Signal(range(5 * lanes))
        m.d.comb += at.eq(slot + self.lane)
        with m.If(self.mark & put & ~marked & (self.lane < columns)):
            m.d.sync += [
                marked.eq(1),
                kept.eq(Mux(self.wide, result, result[:narrow])),
                place.eq(Mux(at >= size, at - size, at)),
                before.eq(level - take + (at >= size)),
            ]
        with m.Elif(marked & take):
            m.d.sync += [marked.eq(before != 0), before.eq(before - 1)]
        with m.If(dut.o.valid & ~dropping):
            last = ended & (level == 1)
            results = Mux(last & (rest != 0), rest, size)
            keep = Cat((results > Mux(self.wide, i // 4, i)) for i in range(4 * lanes))
            m.d.comb += [Assert(level != 0), Assert(beat.last == last), Assert(beat.keep == keep)]
            with m.If(marked & (before == 0)):
                found = Mux(self.wide, beat.data.word_select(place, self.bits), beat.data.word_select(place, narrow))
                m.d.comb += Assert(found == kept)
        with m.If(take & beat.last):
            m.d.sync += ended.eq(0)

        over = Signal()  # `YPacker.extra`
        modulo = total % lanes
        with m.If(put & self.last):
            m.d.sync += over.eq((modulo != 0) & (modulo < columns))
        late = Signal(range(dut.latency + 2))
        m.d.sync += late.eq(Mux((level != 0) & ~dut.o.valid, late + 1, 0))
        m.d.comb += Assert(late < dut.latency + (ended & over))
        ready_before, ended_before = Signal(), Signal()
        m.d.sync += [ready_before.eq(self.ready & ~(ended | ended_before)), ended_before.eq(ended)]
        with m.If(ready_before & ~ended):
            m.d.comb += Assert(dut.i.ready)

        # An abort: what was offered must go, and a job that had begun must end; that takes three beats at the most.
        begun = Signal()
        went = Signal(range(4))
        with m.If(take):
            m.d.sync += begun.eq(~beat.last)
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
            m.d.comb += Assert(~dut.o.valid & (level == 0) & ~ended)
        with m.If(self.abort):
            m.d.sync += [dropping.eq(1), went.eq(0), slot.eq(0), level.eq(0), ended.eq(0), marked.eq(0), late.eq(0)]
        m.d.comb += [
            Cover(take & beat.last & (rest == 1)),
            Cover(marked & take & (before == 0) & ~self.wide),
            Cover(dropping & take & (went == 2)),
            Cover(completes == 2) if lanes > 1 else Cover(1),
        ]
        return m


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


def _status(aspect: str, claim: str, old: str, new: str) -> Property:
    return Property(
        name=f"engine status: {aspect}",
        claim=claim,
        harness=lambda: StatusHarness(aspect),
        method=Unbounded(cover_cycles=12),
        bug=SeededBug(module="engine.status", old=old, new=new),
        quick=True,
    )


def _packer(lanes: int, method: Method, old: str, new: str, *, bits: int = 4, quick: bool = False) -> Property:
    return Property(
        name=f"engine Y packer, {lanes} lanes",
        claim="results leave in order, each once, every beat full but the last; offers held, jobs ended after an abort",
        harness=lambda: PackerHarness(lanes, bits),
        method=method,
        bug=SeededBug(module="engine.y_packer", old=old, new=new),
        quick=quick,
    )


def _blind(name: str, make: Callable[[], Any], bug: SeededBug) -> Property:
    return Property(
        name=f"engine {name}: outputs are blind to inputs",
        claim="in no reachable state does an input change an output of the same cycle",
        harness=lambda: InputBlindHarness(make),
        method=Unbounded(cover_cycles=4),
        bug=bug,
        quick=True,
    )


PROPERTIES = (
    Property(
        name="engine bus: writes",
        claim="each write acts once if it may, with its own address and data, and is answered once, in four cycles",
        harness=BusWriteHarness,
        method=Unbounded(cover_cycles=12),
        bug=SeededBug(
            module="engine.axi_lite",
            old="decide.eq(got_address & got_data & ~decide)",
            new="decide.eq((got_address | got_data) & ~decide)",
        ),
        quick=True,
    ),
    Property(
        name="engine bus: reads",
        claim="each read is answered once, in order, with what its address held; the answer stays until taken",
        harness=BusReadHarness,
        method=Unbounded(cover_cycles=12),
        bug=SeededBug(
            module="engine.axi_lite", old="free = ~answering | self.s_rready", new="free = self.s_rready.any() | 1"
        ),
        quick=True,
    ),
    _blind(
        "bus",
        lambda: AxiLite(_ADDRESS_BITS),
        SeededBug(module="engine.axi_lite", old="ready.eq(opened)", new="ready.eq(opened & valid)"),
    ),
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
    Property(
        name="engine skid buffer",
        claim="payloads leave in order, each once, held until taken, one cycle late; there is room for two",
        harness=SkidHarness,
        method=Unbounded(cover_cycles=8),
        bug=SeededBug(
            module="engine.skid_buffer",
            old="offers.eq(self.i.valid | keeps | waits)",
            new="offers.eq(self.i.valid | waits)",
        ),
        quick=True,
    ),
    _blind(
        "skid buffer",
        lambda: SkidBuffer(2),
        SeededBug(module="engine.skid_buffer", old="ready.eq(~keeps)", new="ready.eq(~keeps | self.o.ready)"),
    ),
    _packer(1, Unbounded(cover_cycles=30), "complete.eq(still_begun)", "complete.eq(begun)", quick=True),
    _packer(2, Bounded(16), "beyond = place.full & (place.left != 0)", "beyond = place.full"),
    _packer(3, Bounded(16), "waiting[lane], results[lane])", "results[lane], waiting[lane])"),
)
