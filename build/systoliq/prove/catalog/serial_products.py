"""Properties of serial multipliers: the product of operands that come far enough apart, whatever was there before."""

from __future__ import annotations

from amaranth.hdl import Assert, Assume, Cat, Cover, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from systoliq.hw.delay import delay
from systoliq.hw.serial_multiplier import SerialMultiplier, serial_cycles

from ..property import FromAnyState, Property, SeededBug

__all__ = ["PROPERTIES"]


class SerialHarness(wiring.Component):
    """The product, ``latency`` cycles after a start; starts come as soon as they may, or later."""

    def __init__(self, a_bits: int, b_bits: int, *, cells: str, pace: int) -> None:
        self.dut = SerialMultiplier(a_bits, b_bits, cells=cells, pace=pace)
        self.latency = self.dut.latency
        self._apart = serial_cycles(b_bits, pace)
        super().__init__({"start": In(1), "a": In(self.dut.a.shape()), "b": In(self.dut.b.shape())})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.dut = dut = self.dut
        starts: list[Value] = [self.start]
        for age in range(self.latency):
            starts.append(delay(m, starts[age], 1, name=f"start_{age}"))
        a, b = (
            delay(m, operand, self.latency, name=f"past_{name}") for name, operand in (("a", self.a), ("b", self.b))
        )
        product = Signal.like(dut.product, name="wanted")
        m.d.comb += [
            dut.start.eq(self.start),
            dut.a.eq(self.a),
            dut.b.eq(self.b),
            Assume(~(self.start & Cat(starts[1 : self._apart]).any())),
            product.eq(a * b),
            Cover(starts[-1] & starts[-1 - self._apart] & (dut.product < -1)),
            Assert(~starts[-1] | (dut.product == product)),
        ]
        return m


def _serial(cells: str, a_bits: int, b_bits: int, pace: int, bug: SeededBug, *, quick: bool = False) -> Property:
    return Property(
        name=f"{cells} serial multiplier, {a_bits} x {b_bits} bits, every {serial_cycles(b_bits, pace)} cycles",
        claim="the product of operands that come with a start, at the stated latency, if starts are so far apart",
        harness=lambda: SerialHarness(a_bits, b_bits, cells=cells, pace=pace),
        method=FromAnyState(),
        bug=bug,
        quick=quick,
    )


_NEVER_CLEARED = SeededBug(module="serial_multiplier", old="Mux(first, 0, above.as_signed())", new="above.as_signed()")
_CLEARED_LATE = SeededBug(
    module="serial_multiplier",
    old="delay(m, self.start, 1 + lut_product_latency(size)",
    new="delay(m, self.start, 2 + lut_product_latency(size)",
)

PROPERTIES = (
    _serial("portable", 5, 6, 3, _NEVER_CLEARED, quick=True),
    _serial("portable", 4, 7, 2, _CLEARED_LATE),
    _serial("ecp5-lut", 5, 6, 3, _CLEARED_LATE, quick=True),
    _serial("ecp5-lut", 4, 5, 2, _CLEARED_LATE),
)
