"""Memory behind AXI4: one port that reads, one that writes."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import wiring

from ..dma.axi4 import axi4_read, axi4_write
from ..hierarchy import place
from .ports import slave
from .ram_core import RamCore

__all__ = ["AxiRam"]

_OKAY, _DECERR = 0, 3


class AxiRam(wiring.Component):
    """``size`` bytes (a power of two) from address 0 on, behind ``s``: INCR bursts of whole beats, in order, ID 0.

    A read's first beat comes a cycle after its address, the others follow one a cycle, and so does the next burst. A
    write takes two cycles more than it has beats; its strobes count. An address beyond the memory answers DECERR, and
    nothing is written. A beat is not read in the cycle in which it is written: it waits.
    """

    kind = "ram"

    def __init__(self, bus_bytes: int, size: int, *, contents: str, init: tuple[int, ...] = ()) -> None:
        self.bus_bytes = bus_bytes
        self.core = RamCore(8 * bus_bytes, size // bus_bytes, contents=contents, init=init)
        super().__init__(slave(axi4_read("s", bus_bytes) | axi4_write("s", bus_bytes)))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.core = place(self.core, platform)
        self._writes(m)
        self._reads(m)
        return m

    def _index(self, address: Value) -> tuple[Value, Value]:
        """The word at an address, and whether there is none."""
        place = (self.bus_bytes - 1).bit_length()
        end = place + (self.core.depth - 1).bit_length()
        return address[place:end], address[end:].any()

    def _reads(self, m: Module) -> None:
        core = self.core
        first, beyond = self._index(self.s_araddr)
        going, at = Signal(name="reading"), Signal.like(first, name="read_at", reset_less=True)
        left, bad = Signal(8, name="read_left", reset_less=True), Signal(name="read_beyond", reset_less=True)
        free, goes = Signal(name="read_free"), Signal(name="read_goes")
        index = Mux(going, at, first)
        behind, wrong = Mux(going, left, self.s_arlen), Mux(going, bad, beyond)
        m.d.comb += [
            free.eq((~self.s_rvalid | self.s_rready) & ~(core.write.any() & (core.write_address == index))),
            goes.eq(free & (going | self.s_arvalid)),
            self.s_arready.eq(free & ~going),
            core.read.eq(goes),
            core.read_address.eq(index),
            self.s_rdata.eq(core.read_data),
        ]
        with m.If(goes):
            m.d.sync += [
                *(self.s_rvalid.eq(1), self.s_rlast.eq(behind == 0), self.s_rresp.eq(Mux(wrong, _DECERR, _OKAY))),
                *(going.eq(behind != 0), at.eq(index + 1), left.eq(behind - 1), bad.eq(wrong)),
            ]
        with m.Elif(self.s_rready):
            m.d.sync += self.s_rvalid.eq(0)

    def _writes(self, m: Module) -> None:
        core = self.core
        first, beyond = self._index(self.s_awaddr)
        going, at = Signal(name="writing"), Signal.like(first, name="write_at", reset_less=True)
        bad = Signal(name="write_beyond", reset_less=True)
        taken = self.s_wvalid & going & ~bad
        m.d.comb += [
            self.s_awready.eq(~going & (~self.s_bvalid | self.s_bready)),
            self.s_wready.eq(going),
            core.write.eq(self.s_wstrb & taken.replicate(self.bus_bytes)),
            core.write_address.eq(at),
            core.write_data.eq(self.s_wdata),
        ]
        with m.If(self.s_bready):
            m.d.sync += self.s_bvalid.eq(0)
        with m.If(self.s_awvalid & self.s_awready):
            m.d.sync += [going.eq(1), at.eq(first), bad.eq(beyond)]
        with m.Elif(self.s_wvalid & going):
            m.d.sync += at.eq(at + 1)
            with m.If(self.s_wlast):
                m.d.sync += [going.eq(0), self.s_bvalid.eq(1), self.s_bresp.eq(Mux(bad, _DECERR, _OKAY))]
