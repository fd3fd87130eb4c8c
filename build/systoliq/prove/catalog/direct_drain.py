"""Proofs of the direct drain: portable, and with ECP5's multiplexers."""

from __future__ import annotations

from amaranth.hdl import Assert, Cover, Module, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In

from systoliq.hw.config import ArrayConfig
from systoliq.hw.delay import delay
from systoliq.hw.direct_drain import DirectDrain
from systoliq.hw.mac import Mac

from ..property import Property, SeededBug, Unbounded
from .array import config_of

__all__ = ["PROPERTIES"]


class DrainHarness(wiring.Component):
    """Each part of the selected sum, after the latency of the drain, and what passes on to the right."""

    def __init__(self, config: ArrayConfig) -> None:
        self.config = config
        word = signed(config.word_bits * Mac.columns_of(config))
        super().__init__({"sums": In(data.ArrayLayout(word, config.rows)), "row": In(range(config.rows))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config, latency = self.config, DirectDrain.latency_of(self.config)
        m.submodules.dut = dut = DirectDrain(config)
        m.d.comb += [dut.sums.eq(self.sums), dut.row.eq(self.row)]
        for part in Mac.parts_of(config):
            row = delay(m, self.row, part.late, name=f"row_{part.start}")
            known = delay(m, row < config.rows, latency, name=f"known_{part.start}")
            named = Signal(part.end - part.start, name=f"named_{part.start}")
            with m.Switch(row):
                for i in range(config.rows):
                    with m.Case(i):
                        m.d.comb += named.eq(part.of(Value.cast(self.sums[i])))
            expected = delay(m, named, latency, name=f"expected_{part.start}")
            m.d.comb += [
                Assert(~known | (part.of(dut.sum) == expected)),
                Cover(known & expected.all()),
            ]
        on = delay(m, self.row, Mac.columns_of(config), name="on")
        m.d.comb += Assert(dut.row_next == on)
        return m


def _drain(rows: int, cells: str, bug: SeededBug, *, accumulator_bits: int = 5, quick: bool = False) -> Property:
    config = config_of(rows=rows, bits=2, accumulator_bits=accumulator_bits, cells=cells)
    return Property(
        name=f"direct drain, {rows} rows, {accumulator_bits} bits, {cells}",
        claim="shows the sum of the row that is named, each part in its time",
        harness=lambda: DrainHarness(config),
        method=Unbounded(cover_cycles=8),
        bug=bug,
        quick=quick,
    )


_OTHER_ROW = SeededBug(module="cells.ecp5_mux", old="_CHOOSE = 0xCACA", new="_CHOOSE = 0xACAC")
_OTHER_HALF = SeededBug(module="cells.ecp5_mux", old='"PFUMX", "BLUT", "ALUT"', new='"PFUMX", "ALUT", "BLUT"')
_EARLY = SeededBug(module="direct_drain", old="delay(m, self.row, part.late", new="delay(m, self.row, 0 * part.late")

PROPERTIES = (
    _drain(3, "portable", _EARLY, accumulator_bits=26),
    _drain(5, "ecp5", _EARLY, accumulator_bits=26),
    _drain(8, "ecp5", _OTHER_ROW, quick=True),
    _drain(11, "ecp5", _OTHER_HALF),
)
