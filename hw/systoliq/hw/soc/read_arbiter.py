"""The arbiter of reads: masters of AXI4 take turns at one slave, burst by burst."""

from __future__ import annotations

from amaranth.hdl import Array, Cat, Module, Value
from amaranth.lib import wiring

from ..dma.axi4 import axi4_read
from ..hierarchy import place
from .owners import Owners
from .ports import slave
from .round_robin import RoundRobin

__all__ = ["ReadArbiter"]

_ADDRESS = ("arid", "araddr", "arlen", "arsize", "arburst", "arcache", "arprot")


class ReadArbiter(wiring.Component):
    """Reads of ``s0``, ``s1``, ... go to ``m``, whose answers must come in the order of the addresses.

    Requests of the masters are granted in turn, one per cycle, while others are answered; a waiting master is served
    before another is served twice. Nothing is delayed by a cycle.
    """

    def __init__(self, masters: int, bus_bytes: int) -> None:
        self.masters = masters
        self.kind = f"read_arbiter_{masters}"
        members = axi4_read("m", bus_bytes)
        for index in range(masters):
            members |= slave(axi4_read(f"s{index}", bus_bytes))
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        turn, owners = RoundRobin(self.masters), Owners(self.masters)
        m.submodules.turn, m.submodules.owners = place(turn, platform), place(owners, platform)
        m.d.comb += [
            turn.asks.eq(Cat(self._of("arvalid")) & owners.room.replicate(self.masters)),
            self.m_arvalid.eq(turn.any),
            turn.taken.eq(self.m_arvalid & self.m_arready),
            owners.put.eq(turn.taken),
            owners.who.eq(turn.who),
            *(getattr(self, f"m_{name}").eq(Array(self._of(name))[turn.who]) for name in _ADDRESS),
            self.m_rready.eq(owners.any & Array(self._of("rready"))[owners.head]),
            owners.take.eq(self.m_rvalid & self.m_rready & self.m_rlast),
        ]
        for index in range(self.masters):
            mine = owners.any & (owners.head == index)
            m.d.comb += [
                getattr(self, f"s{index}_arready").eq(turn.taken & (turn.who == index)),
                getattr(self, f"s{index}_rvalid").eq(self.m_rvalid & mine),
                *(
                    getattr(self, f"s{index}_{name}").eq(getattr(self, f"m_{name}"))
                    for name in ("rdata", "rresp", "rlast", "rid")
                ),
            ]
        return m

    def _of(self, name: str) -> list[Value]:
        return [Value.cast(getattr(self, f"s{index}_{name}")) for index in range(self.masters)]
