"""AXI4-Lite switch: two masters share two slaves, one write and one read at a time."""

from __future__ import annotations

from amaranth.hdl import Array, Module, Mux, Signal, Value
from amaranth.lib import wiring

from ..engine.axi_lite import axi_lite

__all__ = ["LiteSwitch"]

_MASTERS, _SLAVES = 2, 2


class LiteSwitch(wiring.Component):
    """Transfers of ``m0`` and ``m1`` go to ``s1`` where bit ``address_bits - 1`` of the address is 1, else to ``s0``.

    If both masters request, the one that was not served last has priority. A write is taken once its address and its
    data are there. No output depends on an input of the same cycle, but readies of answers.
    """

    kind = "lite_switch"

    def __init__(self, address_bits: int) -> None:
        self.address_bits = address_bits
        members: dict[str, wiring.Member] = {}
        for index in range(_MASTERS):
            members |= axi_lite(f"m{index}", address_bits)
        for index in range(_SLAVES):
            members |= axi_lite(f"s{index}", address_bits - 1, master=True)
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        self._channel(m, "write", address="aw", payload=("wdata", "wstrb"), answer="b", answered=("bresp",))
        self._channel(m, "read", address="ar", payload=(), answer="r", answered=("rdata", "rresp"))
        return m

    def _channel(
        self, m: Module, name: str, *, address: str, payload: tuple[str, ...], answer: str, answered: tuple[str, ...]
    ) -> None:
        """Writes, or reads: from one master to one slave, and the answer back."""
        write = bool(payload)
        asks = [self._of("m", i, f"{address}valid") & (self._of("m", i, "wvalid") if write else 1) for i in range(2)]
        who, whom = Signal(name=f"{name}_who"), Signal(name=f"{name}_whom", reset_less=True)
        at = Signal(self.address_bits - 1, name=f"{name}_address", reset_less=True)
        busy, taken = Signal(name=f"{name}_busy"), Signal(name=f"{name}_taken")
        offers = {
            channel: Signal(name=f"{name}_offers_{channel}") for channel in ([address, "w"] if write else [address])
        }
        waits, gives = Signal(name=f"{name}_waits"), Signal(name=f"{name}_gives")
        kept = {each: self._kept(name, each) for each in (*payload, *answered)}
        chosen = Mux(asks[0] & asks[1], ~who, asks[1])
        full = Array(self._of("m", i, f"{address}addr") for i in range(_MASTERS))[chosen]
        m.d.sync += taken.eq(0)
        with m.If(~busy), m.If(asks[0] | asks[1]):
            m.d.sync += [busy.eq(1), taken.eq(1), who.eq(chosen), at.eq(full), whom.eq(full[-1])]
            m.d.sync += [offer.eq(1) for offer in offers.values()]
            m.d.sync += [kept[e].eq(Array(self._of("m", i, e) for i in range(_MASTERS))[chosen]) for e in payload]
        for channel, offer in offers.items():
            with m.If(offer & Array(self._of("s", i, f"{channel}ready") for i in range(_SLAVES))[whom]):
                m.d.sync += offer.eq(0)
        with m.If(taken):
            m.d.sync += waits.eq(1)
        with m.If(waits & Array(self._of("s", i, f"{answer}valid") for i in range(_SLAVES))[whom]):
            m.d.sync += [waits.eq(0), gives.eq(1)]
            m.d.sync += [kept[e].eq(Array(self._of("s", i, e) for i in range(_SLAVES))[whom]) for e in answered]
        with m.If(gives & Array(self._of("m", i, f"{answer}ready") for i in range(_MASTERS))[who]):
            m.d.sync += [gives.eq(0), busy.eq(0)]
        for i in range(_MASTERS):
            m.d.comb += [
                self._of("m", i, f"{address}ready").eq(taken & (who == i)),
                self._of("m", i, f"{answer}valid").eq(gives & (who == i)),
                *(self._of("m", i, each).eq(kept[each]) for each in answered),
                *([self._of("m", i, "wready").eq(taken & (who == i))] if write else []),
            ]
        for i in range(_SLAVES):
            m.d.comb += [
                self._of("s", i, f"{address}addr").eq(at),
                *(self._of("s", i, f"{channel}valid").eq(offer & (whom == i)) for channel, offer in offers.items()),
                *(self._of("s", i, each).eq(kept[each]) for each in payload),
                self._of("s", i, f"{answer}ready").eq(waits & (whom == i)),
            ]

    def _of(self, side: str, index: int, channel: str) -> Value:
        return Value.cast(getattr(self, f"{side}{index}_{channel}"))

    def _kept(self, name: str, channel: str) -> Signal:
        return Signal(len(self._of("m", 0, channel)), name=f"{name}_kept_{channel}", reset_less=True)
