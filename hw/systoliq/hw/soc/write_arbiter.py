"""The arbiter of writes: masters of AXI4 take turns at one slave, burst by burst."""

from __future__ import annotations

from amaranth.hdl import Array, Cat, Module, Signal, Value
from amaranth.lib import wiring

from ..dma.axi4 import axi4_write
from ..hierarchy import place
from .owners import Owners
from .ports import slave
from .round_robin import RoundRobin

__all__ = ["WriteArbiter"]

_ADDRESS = ("awid", "awaddr", "awlen", "awsize", "awburst", "awcache", "awprot")
_DATA = ("wdata", "wstrb", "wlast")


class WriteArbiter(wiring.Component):
    """Writes of ``s0``, ``s1``, ... go to ``m``, which must answer them in order.

    A burst's beats follow its address, from the next cycle on, and the next burst's address follows them; answers may
    be late. Of any two that ask, none comes twice before the other once.
    """

    def __init__(self, masters: int, bus_bytes: int) -> None:
        self.masters = masters
        self.kind = f"write_arbiter_{masters}"
        members = axi4_write("m", bus_bytes)
        for index in range(masters):
            members |= slave(axi4_write(f"s{index}", bus_bytes))
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        turn, owners = RoundRobin(self.masters), Owners(self.masters)
        m.submodules.turn, m.submodules.owners = place(turn, platform), place(owners, platform)
        who = Signal(range(self.masters), reset_less=True)
        writing = Signal()
        may_ask = ~writing & owners.room
        m.d.comb += [
            turn.asks.eq(Cat(self._of("awvalid")) & may_ask.replicate(self.masters)),
            self.m_awvalid.eq(turn.any),
            turn.taken.eq(self.m_awvalid & self.m_awready),
            owners.put.eq(turn.taken),
            owners.who.eq(turn.who),
            *(getattr(self, f"m_{name}").eq(Array(self._of(name))[turn.who]) for name in _ADDRESS),
            self.m_wvalid.eq(writing & Array(self._of("wvalid"))[who]),
            *(getattr(self, f"m_{name}").eq(Array(self._of(name))[who]) for name in _DATA),
            self.m_bready.eq(owners.any & Array(self._of("bready"))[owners.head]),
            owners.take.eq(self.m_bvalid & self.m_bready),
        ]
        with m.If(turn.taken):
            m.d.sync += [writing.eq(1), who.eq(turn.who)]
        with m.Elif(self.m_wvalid & self.m_wready & self.m_wlast):
            m.d.sync += writing.eq(0)
        for index in range(self.masters):
            mine = owners.any & (owners.head == index)
            m.d.comb += [
                getattr(self, f"s{index}_awready").eq(turn.taken & (turn.who == index)),
                getattr(self, f"s{index}_wready").eq(self.m_wready & writing & (who == index)),
                getattr(self, f"s{index}_bvalid").eq(self.m_bvalid & mine),
                getattr(self, f"s{index}_bresp").eq(self.m_bresp),
                getattr(self, f"s{index}_bid").eq(self.m_bid),
            ]
        return m

    def _of(self, name: str) -> list[Value]:
        return [Value.cast(getattr(self, f"s{index}_{name}")) for index in range(self.masters)]
