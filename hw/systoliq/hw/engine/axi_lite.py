"""AXI4-Lite slave: turns the five channels of the bus into one write or one read at a time."""

from __future__ import annotations

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["AxiLite", "axi_lite"]

_OKAY, _SLVERR = 0, 2


def axi_lite(name: str, address_bits: int, *, master: bool = False) -> dict[str, wiring.Member]:
    """Members of an AXI4-Lite port of 32 data bits: of a slave, or of a ``master``."""
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
    return {f"{name}_{channel}": member.flip() if master else member for channel, member in slave.items()}


class AxiLite(wiring.Component):
    """``write`` is 1 for one cycle per write of ``write_data`` to ``write_address``, a multiple of 4.

    Both stay for two more cycles, so that a decoder may register them. ``write_known`` and ``read_known`` are 1 if the
    address exists, and ``read_data`` is the word at ``read_address``. These inputs may be registers of a decoder:
    ``read_data`` and ``read_known`` are sampled in the second cycle of an address on ``read_address``, and
    ``write_known`` in the second cycle in which both ``write_address`` and ``write_data`` are valid, which is the cycle
    of ``write``. A write of less than four bytes, or one to an address that does not exist, does nothing and answers
    SLVERR.

    No output of the bus depends on an input of the same cycle, and all come from registers. Address and data of a write
    may come in any order. A write takes four cycles: address and data are taken, decoded, decided on, and written while
    the answer is on the bus; a read four: taken, decoded, looked up, and its data on the bus. Consecutive ``write`` are
    at least four cycles apart.
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
        self._writes(m)
        self._reads(m)
        return m

    def _writes(self, m: Module) -> None:
        address = Signal(len(self.s_awaddr) - 2, reset_less=True)
        word = Signal(32, reset_less=True)
        whole = Signal(reset_less=True)
        answering = Signal()
        response = Signal(2, reset_less=True)
        decide = Signal()
        m.d.comb += [
            self.write_address.eq(address << 2),
            self.write_data.eq(word),
            self.write.eq(decide & self.write_known & whole),
            self.s_bvalid.eq(answering),
            self.s_bresp.eq(response),
        ]
        free = ~answering | self.s_bready
        got_address = _slot(m, "aw", valid=self.s_awvalid, ready=self.s_awready, free=free, leave=decide)
        got_data = _slot(m, "w", valid=self.s_wvalid, ready=self.s_wready, free=free, leave=decide)
        with m.If(self.s_awready):
            m.d.sync += address.eq(self.s_awaddr[2:])
        with m.If(self.s_wready):
            m.d.sync += [word.eq(self.s_wdata), whole.eq(self.s_wstrb.all())]
        m.d.sync += decide.eq(got_address & got_data & ~decide)
        with m.If(decide):
            m.d.sync += [answering.eq(1), response.eq(_SLVERR)]
            with m.If(self.write):
                m.d.sync += response.eq(_OKAY)
        with m.Elif(self.s_bready):
            m.d.sync += answering.eq(0)

    def _reads(self, m: Module) -> None:
        address = Signal(len(self.s_araddr) - 2, reset_less=True)
        answering = Signal()
        answer = Signal(32, reset_less=True)
        response = Signal(2, reset_less=True)
        m.d.comb += [
            self.read_address.eq(address << 2),
            self.s_rvalid.eq(answering),
            self.s_rdata.eq(answer),
            self.s_rresp.eq(response),
        ]
        decide = Signal()
        free = ~answering | self.s_rready
        got = _slot(m, "ar", valid=self.s_arvalid, ready=self.s_arready, free=free, leave=decide)
        m.d.sync += decide.eq(got & ~decide)
        with m.If(self.s_arready):
            m.d.sync += address.eq(self.s_araddr[2:])
        with m.If(decide):
            m.d.sync += [answering.eq(1), answer.eq(self.read_data), response.eq(_SLVERR)]
            with m.If(self.read_known):
                m.d.sync += response.eq(_OKAY)
        with m.Elif(self.s_rready):
            m.d.sync += answering.eq(0)


def _slot(m: Module, name: str, *, valid: Value, ready: Value, free: Value, leave: Value) -> Signal:
    """A channel that holds one transfer, from the cycle after it was taken until ``leave``.

    It takes the next one once no answer is on its way: ``free`` in the cycle before.
    """
    opened = Signal(name=f"{name}_ready")
    held = Signal(name=f"{name}_held")
    m.d.comb += ready.eq(opened)
    with m.If(valid & opened):
        m.d.sync += [held.eq(1), opened.eq(0)]
    with m.Elif(leave):
        m.d.sync += held.eq(0)
    with m.Elif(~held & free):
        m.d.sync += opened.eq(1)
    return held
