"""AXI4-Lite slave: turns the bus's five channels into one write or one read at a time."""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["AxiLite", "axi_lite"]

_OKAY, _SLVERR = 0, 2


def axi_lite(name: str, address_bits: int) -> dict[str, object]:
    """Members of an AXI4-Lite slave port of 32 data bits."""
    slave = {
        "awaddr": In(address_bits),
        "awprot": In(3),
        "awvalid": In(1),
        "awready": Out(1),
        "wdata": In(32),
        "wstrb": In(4),
        "wvalid": In(1),
        "wready": Out(1),
        "bresp": Out(2),
        "bvalid": Out(1),
        "bready": In(1),
        "araddr": In(address_bits),
        "arprot": In(3),
        "arvalid": In(1),
        "arready": Out(1),
        "rdata": Out(32),
        "rresp": Out(2),
        "rvalid": Out(1),
        "rready": In(1),
    }
    return {f"{name}_{channel}": member for channel, member in slave.items()}


class AxiLite(wiring.Component):
    """``write`` marks a cycle in which ``write_data`` is to be put at ``write_address`` (bytes, a multiple of 4).

    ``write_known`` and ``read_known`` say in the same cycle whether the address exists; ``read_data`` is what it
    holds. A write of less than four bytes, or one to an address that does not exist, does nothing and answers SLVERR.
    """

    kind = "axi_lite"

    def __init__(self, address_bits: int) -> None:
        super().__init__(
            axi_lite("s", address_bits)
            | {
                "write": Out(1),
                "write_address": Out(address_bits),
                "write_data": Out(32),
                "write_known": In(1),
                "read_address": Out(address_bits),
                "read_data": In(32),
                "read_known": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        both = Signal()
        m.d.comb += [
            both.eq(self.s_awvalid & self.s_wvalid & (~self.s_bvalid | self.s_bready)),
            self.s_awready.eq(both),
            self.s_wready.eq(both),
            self.write_address.eq(self.s_awaddr[2:] << 2),
            self.write_data.eq(self.s_wdata),
            self.write.eq(both & self.write_known & self.s_wstrb.all()),
        ]
        responding = Signal()
        response = Signal(2)
        m.d.comb += [self.s_bvalid.eq(responding), self.s_bresp.eq(response)]
        with m.If(both):
            m.d.sync += [responding.eq(1), response.eq(_SLVERR)]
            with m.If(self.write):
                m.d.sync += response.eq(_OKAY)
        with m.Elif(self.s_bready):
            m.d.sync += responding.eq(0)

        ask = Signal()
        answering = Signal()
        answer = Signal(32)
        answer_response = Signal(2)
        m.d.comb += [
            ask.eq(self.s_arvalid & (~answering | self.s_rready)),
            self.s_arready.eq(ask),
            self.read_address.eq(self.s_araddr[2:] << 2),
            self.s_rvalid.eq(answering),
            self.s_rdata.eq(answer),
            self.s_rresp.eq(answer_response),
        ]
        with m.If(ask):
            m.d.sync += [answering.eq(1), answer.eq(self.read_data), answer_response.eq(_SLVERR)]
            with m.If(self.read_known):
                m.d.sync += answer_response.eq(_OKAY)
        with m.Elif(self.s_rready):
            m.d.sync += answering.eq(0)
        return m
