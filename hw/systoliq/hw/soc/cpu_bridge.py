"""The bridge of the processor: its accesses go to memory, to the peripherals or to the engine."""

from __future__ import annotations

from amaranth.hdl import Array, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from ..dma.axi4 import INCR, MODIFIABLE, axi4_read, axi4_write
from ..dma.list_player import ADDRESS_BITS as ENGINE_ADDRESS_BITS
from ..engine.axi_lite import axi_lite
from .peripherals import ADDRESS_BITS as PERIPHERALS_ADDRESS_BITS
from .registers import REGION_BITS, REGIONS

__all__ = ["CpuBridge"]

_ERROR = 1  # the bit of a response that marks errors
_PORTS = {"ram": "m", "peripherals": "p", "engine": "e"}
_NOWHERE = len(_PORTS)


class CpuBridge(wiring.Component):
    """Reads and writes of ``s``, one each at a time: accesses to `REGIONS` are passed to memory at ``m``, on AXI4, and
    to the peripherals at ``p`` and the engine at ``e``, on AXI4-Lite; others read 0 and answer DECERR.

    Address and data of a write may come in any order, but its address must stay until both are taken. ``fault`` is 1 in
    the cycle of an answer with an error. Nothing is delayed by a cycle.
    """

    kind = "cpu_bridge"

    def __init__(self, bus_bytes: int) -> None:
        self.bus_bytes = bus_bytes
        super().__init__(
            axi_lite("s", 32)
            | axi4_read("m", bus_bytes)
            | axi4_write("m", bus_bytes)
            | axi_lite("p", PERIPHERALS_ADDRESS_BITS, master=True)
            | axi_lite("e", ENGINE_ADDRESS_BITS, master=True)
            | {"fault": Out(1)}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        place = (self.bus_bytes - 1).bit_length()
        for channel in ("ar", "aw"):
            address = getattr(self, f"s_{channel}addr")
            fixed = {"id": 0, "len": 0, "size": place, "burst": INCR, "cache": MODIFIABLE, "prot": 0}
            m.d.comb += [
                getattr(self, f"m_{channel}addr").eq(address[place:] << place),
                getattr(self, f"p_{channel}addr").eq(address),
                getattr(self, f"e_{channel}addr").eq(address),
                *(getattr(self, f"m_{channel}{name}").eq(value) for name, value in fixed.items()),
            ]
        faults = [self._reads(m), self._writes(m)]
        m.d.comb += self.fault.eq(faults[0] | faults[1])
        return m

    def _region(self, m: Module, channel: str) -> Signal:
        """The member of `_PORTS` that an address selects."""
        region = Signal(range(_NOWHERE + 1), name=f"{channel}_region")
        m.d.comb += region.eq(_NOWHERE)
        with m.Switch(getattr(self, f"s_{channel}addr")[32 - REGION_BITS :]):
            for index, name in enumerate(_PORTS):
                with m.Case(REGIONS[name] >> (32 - REGION_BITS)):
                    m.d.comb += region.eq(index)
        return region

    def _all(self, name: str, nowhere: int) -> Array:
        """A signal of each port, with a default for ports without that signal."""
        return Array([*(getattr(self, f"{port}_{name}") for port in _PORTS.values()), Const(nowhere, 2)])

    def _to(self, m: Module, name: str, region: Value, value: Value) -> None:
        """Set a signal of the port that ``region`` means."""
        for index, port in enumerate(_PORTS.values()):
            m.d.comb += getattr(self, f"{port}_{name}").eq(value & (region == index))

    def _reads(self, m: Module) -> Value:
        region, busy = self._region(m, "ar"), Signal(name="reading")
        whom = Signal.like(region, name="read_from", reset_less=True)
        lane = Signal(4, reset_less=True)
        self._to(m, "arvalid", region, self.s_arvalid & ~busy)
        self._to(m, "rready", whom, self.s_rready & busy)
        place = (self.bus_bytes - 1).bit_length()
        words = Array(self.m_rdata[32 * i :][:32] for i in range(self.bus_bytes // 4))
        word = words[lane[2:place]] if len(words) > 1 else self.m_rdata
        data = Array([word, self.p_rdata, self.e_rdata, Const(0, 32)])
        m.d.comb += [
            self.s_arready.eq(self._all("arready", 1)[region][0] & ~busy),
            self.s_rvalid.eq(self._all("rvalid", 1)[whom][0] & busy),
            self.s_rresp.eq(self._all("rresp", 3)[whom]),
            self.s_rdata.eq(data[whom]),
        ]
        with m.If(self.s_arvalid & self.s_arready):
            m.d.sync += [busy.eq(1), whom.eq(region), lane.eq(self.s_araddr)]
        with m.Elif(self.s_rvalid & self.s_rready):
            m.d.sync += busy.eq(0)
        return self.s_rvalid & self.s_rready & self.s_rresp[_ERROR]

    def _writes(self, m: Module) -> Value:
        now = self._region(m, "aw")
        got_address = Signal()
        got_data = Signal()
        whom = Signal.like(now, name="write_to", reset_less=True)
        region = Mux(got_address, whom, now)
        answered = self.s_bvalid & self.s_bready
        known = got_address | self.s_awvalid  # the selected port
        both = got_address & got_data
        self._to(m, "awvalid", region, self.s_awvalid & ~got_address)
        self._to(m, "wvalid", region, self.s_wvalid & ~got_data & known)
        self._to(m, "bready", region, self.s_bready & both)
        copies = self.bus_bytes // 4
        place = Const(0, 1) if copies == 1 else self.s_awaddr[2 : 2 + (copies - 1).bit_length()]
        m.d.comb += [
            self.m_wdata.eq(self.s_wdata.replicate(copies)),
            self.m_wstrb.eq(self.s_wstrb << (place * 4)),
            self.m_wlast.eq(1),
            *(
                getattr(self, f"{port}_{name}").eq(getattr(self, f"s_{name}"))
                for port in "pe"
                for name in ("wdata", "wstrb")
            ),
            self.s_awready.eq(self._all("awready", 1)[region][0] & ~got_address),
            self.s_wready.eq(self._all("wready", 1)[region][0] & ~got_data & known),
            self.s_bvalid.eq(self._all("bvalid", 1)[region][0] & both),
            self.s_bresp.eq(self._all("bresp", 3)[region]),
        ]
        with m.If(answered):
            m.d.sync += [got_address.eq(0), got_data.eq(0)]
        with m.If(self.s_awvalid & self.s_awready):
            m.d.sync += [got_address.eq(1), whom.eq(now)]
        with m.If(self.s_wvalid & self.s_wready):
            m.d.sync += got_data.eq(1)
        return answered & self.s_bresp[_ERROR]
