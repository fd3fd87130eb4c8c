"""Proofs of block RAM: a read returns the word that was last written."""

from __future__ import annotations

from amaranth.hdl import Assert, Assume, Cover, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from systoliq.hw.block_ram import BlockRam

from ..property import Property, SeededBug, Unbounded

__all__ = ["PROPERTIES"]

_BITS = 2
_DEPTH = 4


class BlockRamHarness(wiring.Component):
    """One word, at an address that the solver selects: each read returns the last word written there, until the next
    read.
    """

    def __init__(self, *, registered: bool) -> None:
        self._registered = registered
        address = range(_DEPTH)
        super().__init__(
            {
                "write": In(1),
                "write_address": In(address),
                "write_data": In(_BITS),
                "read": In(1),
                "read_address": In(address),
                "show": In(1),
                "watched": In(address),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.dut = dut = BlockRam(_BITS, depth=_DEPTH, cells="portable", registered=self._registered)
        m.d.comb += [getattr(dut, name).eq(value) for name, value in self._inputs()]
        here = Signal.like(self.watched)  # as it was at first
        started, written = Signal(), Signal()
        word = Signal(_BITS)
        m.d.comb += Assume(~(self.write & self.read & (self.write_address == self.read_address)))
        m.d.sync += started.eq(1)
        with m.If(~started):
            m.d.sync += here.eq(self.watched)
        with m.If(started & self.write & (self.write_address == here)):
            m.d.sync += [written.eq(1), word.eq(self.write_data)]
        fetched = Signal(_BITS + 1)  # result of the last read, and whether it is known
        with m.If(self.read):
            m.d.sync += fetched.eq(Mux(written & (self.read_address == here), word << 1 | 1, 0))
        shown = fetched
        if dut.latency > 1:
            shown = Signal.like(fetched, name="shown")
            with m.If(self.show):
                m.d.sync += shown.eq(fetched)
        with m.If(shown[0]):
            m.d.comb += Assert(dut.read_data == shown[1:])
        m.d.comb += Cover(shown[0] & (shown[1:] != word))
        return m

    def _inputs(self) -> list[tuple[str, Signal]]:
        names = ("write", "write_address", "write_data", "read", "read_address", "show")
        return [(name, getattr(self, name)) for name in names]


def _block_ram(latency: int, bug: SeededBug) -> Property:
    return Property(
        name=f"block RAM of {_DEPTH}, latency {latency}",
        claim="a word that is read is what was last written there, after the stated latency, until the next one",
        harness=lambda: BlockRamHarness(registered=latency > 1),
        method=Unbounded(cover_cycles=8),
        bug=bug,
        quick=True,
    )


PROPERTIES = (
    _block_ram(1, SeededBug(module="block_ram", old="read.en.eq(self.read)", new="read.en.eq(1)")),
    _block_ram(2, SeededBug(module="block_ram", old="with m.If(self.show):", new="with m.If(self.read):")),
)
