"""Proofs of the system bus: arbiters lose, repeat and confuse nothing, and no master waits forever."""

from __future__ import annotations

from amaranth.hdl import Array, Assert, Assume, Cat, Cover, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from systoliq.hw.soc.owners import DEPTH
from systoliq.hw.soc.read_arbiter import ReadArbiter
from systoliq.hw.soc.write_arbiter import WriteArbiter

from ..property import Property, SeededBug, Unbounded
from .checkers import check_held, check_order

__all__ = ["PROPERTIES"]

_BUS_BYTES = 4
_PAYLOAD = 1  # bits: payloads are moved, not interpreted


class _ArbiterHarness(wiring.Component):
    """Free masters and a free slave, which keep to the protocol; the solver marks a burst of its choice."""

    def __init__(self, masters: int, access: str) -> None:
        self.masters, self.access = masters, access
        names = ("valid", "payload") + (("wvalid", "wlast", "wpayload") if access == "write" else ())
        inputs = {f"{name}_{index}": In(1) for index in range(masters) for name in (*names, "answer_ready")}
        slave = ("ready", "answer_valid", "last") + (("wready",) if access == "write" else ())
        super().__init__(inputs | dict.fromkeys((*slave, "mark"), In(1)))

    def all(self, name: str) -> list[Value]:
        """An input of each master."""
        return [Value.cast(getattr(self, f"{name}_{index}")) for index in range(self.masters)]

    def bursts(self, m: Module, dut: wiring.Component, address: str, answer: str, ends: Value) -> tuple[Value, Value]:
        """Claims on addresses and answers; (a burst is taken, whose)."""
        valid, ready = getattr(dut, f"m_{address}valid"), getattr(dut, f"m_{address}ready")
        m.d.comb += [
            ready.eq(self.ready),
            getattr(dut, f"m_{answer}valid").eq(self.answer_valid),
            *(getattr(dut, f"s{i}_{address}valid").eq(each) for i, each in enumerate(self.all("valid"))),
            *(getattr(dut, f"s{i}_{address}addr").eq(each) for i, each in enumerate(self.all("payload"))),
            *(getattr(dut, f"s{i}_{answer}ready").eq(each) for i, each in enumerate(self.all("answer_ready"))),
        ]
        for index, (asks, payload) in enumerate(zip(self.all("valid"), self.all("payload"), strict=True)):
            _holds(m, asks, getattr(dut, f"s{index}_{address}ready"), payload, f"master_{index}")
        payload = getattr(dut, f"m_{address}addr")[:_PAYLOAD]
        check_held(m, valid, ready, payload)
        taken = [getattr(dut, f"s{i}_{address}ready") & each for i, each in enumerate(self.all("valid"))]
        whose = _number(m, taken, "taken_from")
        m.d.comb += [
            Assert(Cat(taken).any() == (valid & ready)),
            Assert(_at_most_one(taken)),
        ]
        with m.If(valid & ready):
            m.d.comb += Assert(payload == Array(self.all("payload"))[whose])
        given = [getattr(dut, f"s{i}_{answer}valid") for i in range(self.masters)]
        passed = self.answer_valid & getattr(dut, f"m_{answer}ready")
        inside = check_order(
            m, mark=self.mark, put=valid & ready, put_payload=whose, take=passed & ends, head=self.answer_valid,
            head_payload=_number(m, given, "answered_to"), most=DEPTH,
        )  # fmt: skip
        m.d.comb += [Assume(~self.answer_valid | (inside != 0)), Assert(_at_most_one(given))]
        with m.If(self.answer_valid):
            m.d.comb += [
                Assert(Cat(given).any()),
                Assert(getattr(dut, f"m_{answer}ready") == (Cat(given) & Cat(self.all("answer_ready"))).any()),
            ]
        with m.Else():
            m.d.comb += Assert(~Cat(given).any())
        self._turns(m, taken)
        return valid & ready, whose

    def _turns(self, m: Module, taken: list[Value]) -> None:
        """While one asks, none other is taken twice."""
        for waits, asks in enumerate(self.all("valid")):
            for other in range(self.masters):
                if other != waits:
                    passed = Signal(name=f"passed_{waits}_{other}")
                    with m.If(~asks | taken[waits]):
                        m.d.sync += passed.eq(0)
                    with m.Elif(taken[other]):
                        m.d.sync += passed.eq(1)
                        m.d.comb += Assert(~passed)
                    m.d.comb += Cover(passed & taken[waits])


def _holds(m: Module, valid: Value, ready: Value, payload: Value, name: str) -> None:
    """Assume that a master obeys the protocol: an offer stays until it is taken."""
    waiting, offered = Signal(name=f"{name}_waits"), Signal(len(payload), name=f"{name}_offered")
    m.d.sync += [waiting.eq(valid & ~ready), offered.eq(payload)]
    with m.If(waiting):
        m.d.comb += [Assume(valid), Assume(payload == offered)]


def _number(m: Module, bits: list[Value], name: str) -> Signal:
    """Index of the one of ``bits`` that is 1."""
    number = Signal(range(len(bits)), name=name)
    for index, bit in enumerate(bits):
        with m.If(bit):
            m.d.comb += number.eq(index)
    return number


def _at_most_one(bits: list[Value]) -> Value:
    together = Cat(bits)
    return (together & (together - 1)[: len(bits)]) == 0


class ReadArbiterHarness(_ArbiterHarness):
    """Each burst is requested once, its beats go to its master, and each master gets its turn."""

    def __init__(self, masters: int) -> None:
        super().__init__(masters, "read")

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.dut = dut = ReadArbiter(self.masters, _BUS_BYTES)
        m.d.comb += dut.m_rlast.eq(self.last)
        self.bursts(m, dut, "ar", "r", self.last)
        return m


class WriteArbiterHarness(_ArbiterHarness):
    """Each burst is requested once, only its beats follow, its answer returns to its master, and masters take turns."""

    def __init__(self, masters: int) -> None:
        super().__init__(masters, "write")

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.dut = dut = WriteArbiter(self.masters, _BUS_BYTES)
        taken, whose = self.bursts(m, dut, "aw", "b", Signal(init=1))
        names = {"wvalid": "wvalid", "wlast": "wlast", "wdata": "wpayload"}
        for name, inputs in names.items():
            m.d.comb += [getattr(dut, f"s{i}_{name}").eq(each) for i, each in enumerate(self.all(inputs))]
        m.d.comb += dut.m_wready.eq(self.wready)
        for index in range(self.masters):
            offered = Cat(*(self.all(inputs)[index] for inputs in ("wlast", "wpayload")))
            _holds(m, self.all("wvalid")[index], getattr(dut, f"s{index}_wready"), offered, f"beats_{index}")
        writing, owner = Signal(name="check_writing"), Signal(range(self.masters), name="check_owner")
        passes, last = dut.m_wvalid & dut.m_wready, Array(self.all("wlast"))[owner]
        with m.If(taken):
            m.d.sync += [writing.eq(1), owner.eq(whose)]
            m.d.comb += Assert(~writing)
        with m.Elif(passes & last):
            m.d.sync += writing.eq(0)
        check_held_beats = Cat(dut.m_wdata[:_PAYLOAD], dut.m_wlast)
        m.d.comb += Assert(dut.m_wvalid == (writing & Array(self.all("wvalid"))[owner]))
        with m.If(dut.m_wvalid):
            m.d.comb += Assert(check_held_beats == Cat(Array(self.all("wpayload"))[owner], last))
        for index in range(self.masters):
            m.d.comb += Assert(getattr(dut, f"s{index}_wready") == (writing & (owner == index) & self.wready))
        m.d.comb += Cover(writing & passes & ~last)
        return m


def _reads(masters: int, bug: SeededBug, *, quick: bool) -> Property:
    return Property(
        name=f"system bus: reads of {masters} masters",
        claim="each burst is asked for once, as it is; its beats come to its master, once, in order; while one asks, "
        "no other is taken twice",
        harness=lambda: ReadArbiterHarness(masters),
        method=Unbounded(cover_cycles=12),
        bug=bug,
        quick=quick,
    )


def _writes(masters: int, bug: SeededBug, *, quick: bool) -> Property:
    return Property(
        name=f"system bus: writes of {masters} masters",
        claim="each burst is asked for once, as it is, and its own beats follow it; its answer comes to its master, "
        "once, in order; while one asks, no other is taken twice",
        harness=lambda: WriteArbiterHarness(masters),
        method=Unbounded(cover_cycles=14),
        bug=bug,
        quick=quick,
    )


PROPERTIES = (
    _reads(
        2,
        SeededBug(
            module="soc.read_arbiter",
            old="self.m_rvalid & self.m_rready & self.m_rlast",
            new="self.m_rvalid & self.m_rready",
        ),
        quick=True,
    ),
    _reads(
        4,
        SeededBug(module="soc.round_robin", old="keeps.eq(self.any & ~self.taken)", new="keeps.eq(0)"),
        quick=False,
    ),
    _writes(
        2,
        SeededBug(
            module="soc.write_arbiter",
            old="self.m_wvalid & self.m_wready & self.m_wlast",
            new="self.m_wvalid & self.m_wready",
        ),
        quick=True,
    ),
    _writes(
        3,
        SeededBug(module="soc.round_robin", old="last.eq(self.who)", new="last.eq(0)"),
        quick=False,
    ),
)
