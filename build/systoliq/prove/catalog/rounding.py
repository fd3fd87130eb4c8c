"""Proofs of the rounding decision: it equals IEEE 754 arithmetic for every input."""

from __future__ import annotations

from amaranth.hdl import Assert, Cover, Module, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.requantization import Rounding
from systoliq.hw.delay import delay
from systoliq.hw.float32 import RoundToFloat32
from systoliq.hw.network.real_sum import rounded_to_24_bits
from systoliq.hw.rounding import RoundingShift

from ..property import FromAnyState, Property, SeededBug

__all__ = ["PROPERTIES"]

_FRACTION_BITS = 30  # more bits than float32 has below the integer part, for any integer part


class RoundingHarness(wiring.Component):
    """`RoundingShift` with one free fixed-point number ``value`` as input, whose integer part fits in full."""

    def __init__(self, rounding: Rounding, output_bits: int) -> None:
        self.rounding = rounding
        self.floor_bits = output_bits + 1  # as the requantizer instantiates it
        bits = self.floor_bits + _FRACTION_BITS
        self.dut = RoundingShift(rounding, bits, least=_FRACTION_BITS, most=_FRACTION_BITS, floor_bits=self.floor_bits)
        self.latency = self.dut.latency
        value = signed(bits)
        super().__init__({"value": In(value), "value_then": Out(value), "rounded": Out(signed(self.floor_bits + 1))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.dut = dut = self.dut
        m.d.comb += [
            dut.value.eq(self.value),
            self.value_then.eq(delay(m, self.value, self.latency, name="past_value")),
            self.rounded.eq(dut.floor + dut.up),
            Assert(~dut.beyond),
            Assert(dut.negative == (self.value_then < 0)),
            Cover(dut.up & self.value_then[: _FRACTION_BITS - 1].any() & (self.value_then < 0)),
            Cover(~dut.up & self.value_then[_FRACTION_BITS - 1]),
        ]
        return m

    @property
    def formulas(self) -> tuple[str]:
        """IEEE 754's result for ``value``: a binary32 (or exact binary64), then the nearest integer, ties to even."""
        exponent, mantissa = (8, 24) if self.rounding is Rounding.NEAR_TIE else (11, 53)
        number = f"((_ to_fp {exponent} {mantissa}) RNE {{value_then}})"
        scale = f"((_ to_fp {exponent} {mantissa}) RNE {2.0**-_FRACTION_BITS:.40f})"
        return (f"(= {{rounded}} ((_ fp.to_sbv {self.floor_bits + 1}) RNE (fp.mul RNE {number} {scale})))",)


def _rounding(rounding: Rounding, bits: int, bug: SeededBug, *, quick: bool = False) -> Property:
    meaning = "float32 product, then nearest even" if rounding is Rounding.NEAR_TIE else "nearest even"
    return Property(
        name=f"rounding {rounding.value}, {bits}-bit output",
        claim=f"the rounding stage does what IEEE 754 does ({meaning}), for every fixed-point number",
        harness=lambda: RoundingHarness(rounding, bits),
        method=FromAnyState(),
        bug=bug,
        quick=quick,
    )


class AccumulatorHarness(wiring.Component):
    """The rounding of an accumulator to 24 significant bits."""

    def __init__(self, bits: int) -> None:
        acc = signed(bits)
        self.dut = RoundToFloat32(bits)
        self.latency = self.dut.latency
        super().__init__({"acc": In(acc), "acc_then": Out(acc), "rounded": Out(signed(bits + 1))})
        conversion = "((_ to_fp 8 24) RNE {acc_then})"
        self.formulas = (f"(= {{rounded}} ((_ fp.to_sbv {bits + 1}) RTZ {conversion}))",)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.dut = dut = self.dut
        m.d.comb += [
            dut.number.eq(self.acc),
            self.acc_then.eq(delay(m, self.acc, self.latency, name="past_acc")),
            self.rounded.eq(dut.rounded),
            Cover((self.acc_then < 0) & (self.rounded < self.acc_then)),
            Cover((self.acc_then > 0) & (self.rounded == 1 << (len(self.acc) - 1))),
        ]
        return m


def _accumulator(bits: int, *, quick: bool = False) -> Property:
    return Property(
        name=f"accumulator of {bits} bits to float32",
        claim=f"every {bits}-bit accumulator is rounded as IEEE 754 converts it to binary32",
        harness=lambda: AccumulatorHarness(bits),
        method=FromAnyState(),
        bug=SeededBug(
            module="float32",
            old="Mux(tie, lost << 1, 0)",
            new="0",
        ),
        quick=quick,
    )


class RealAdditionHarness(wiring.Component):
    """The rounding of an exact sum of float32 numbers, as integers of one unit, in averages and in a linear Resize."""

    latency = 0

    def __init__(self, bits: int) -> None:
        self.bits = bits
        super().__init__({"exact": In(signed(bits - 1)), "rounded": Out(signed(bits))})
        self.formulas = (f"(= {{rounded}} ((_ fp.to_sbv {bits}) RTZ ((_ to_fp 8 24) RNE {{exact}})))",)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        total = Signal(signed(self.bits))
        m.d.comb += [
            total.eq(self.exact),
            self.rounded.eq(rounded_to_24_bits(m, total)),
            Cover((total < 0) & (self.rounded < total)),
            Cover((total > 0) & (self.rounded == 1 << (self.bits - 2))),
        ]
        return m


def _real_addition(bits: int, *, quick: bool = False) -> Property:
    return Property(
        name=f"real addition of {bits} bits",
        claim="every exact sum of integers of one unit is rounded as IEEE 754 rounds an addition in binary32",
        harness=lambda: RealAdditionHarness(bits),
        method=FromAnyState(),
        bug=SeededBug(module="network.real_sum", old="& dropped[0]", new="& dropped[-1]"),
        quick=quick,
    )


_WINDOW = SeededBug(module="rounding", old="below_last = lost >> 1", new="below_last = lost")
_STICKY = SeededBug(
    module="rounding",
    old="half & ~self._any_of(m, value & fraction,",
    new="half & ~self._any_of(m, (value & fraction)[6:],",
)

PROPERTIES = (
    *(_rounding(Rounding.NEAR_TIE, bits, _WINDOW, quick=bits == 8) for bits in range(2, 17)),
    *(_rounding(Rounding.NEAREST, bits, _STICKY, quick=bits == 8) for bits in (2, 8, 16)),
    *(_accumulator(bits, quick=bits == 32) for bits in (26, 32, 40)),
    *(_real_addition(bits, quick=bits == 28) for bits in (27, 28, 32, 36, 40, 48)),
)
