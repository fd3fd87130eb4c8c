"""Proofs of the engine's bus."""

from __future__ import annotations

from amaranth.hdl import Assert, Assume, Cat, Cover, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from systoliq.hw.engine.axi_lite import AxiLite

from ..property import Property, SeededBug, Unbounded
from .checkers import check_held
from .input_blind import blind

__all__ = ["PROPERTIES"]

_ADDRESS_BITS = 4  # of the bus: the slave only moves addresses


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
    """Each write acts once, with its own address and data, and is answered once, with its result."""

    def __init__(self) -> None:
        super().__init__("aw", "w", "b")

    def elaborate(self, platform: object) -> Module:
        m = Module()
        dut = self.bus(m)
        check_held(m, dut.s_bvalid, dut.s_bready, dut.s_bresp)
        got_address, got_data = dut.s_awvalid & dut.s_awready, dut.s_wvalid & dut.s_wready
        answered = dut.s_bvalid & dut.s_bready
        # Taken but not answered: at most one address and one data word.
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
        # Nothing waits forever: with both, the answer comes two cycles later.
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
    """Each read is answered once, with the value for its address in the cycle before the answer."""

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
    blind(
        "bus",
        lambda: AxiLite(_ADDRESS_BITS),
        SeededBug(module="engine.axi_lite", old="ready.eq(opened)", new="ready.eq(opened & valid)"),
    ),
)
