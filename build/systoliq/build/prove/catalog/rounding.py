"""Proofs of the rounding decision: it is what IEEE 754 arithmetic does, for every input."""

from __future__ import annotations

from amaranth.hdl import Cat, Cover, Module, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.requantization import Rounding
from systoliq.hw.delay import delay
from systoliq.hw.requantizer import _round_to_float32
from systoliq.hw.rounding import FRACTION_BITS, RoundingStage

from ..property import FromAnyState, Property, SeededBug

__all__ = ["PROPERTIES"]

_EXTRA = 4  # fraction bits below those that the stage sees one by one


class RoundingHarness(wiring.Component):
    """`RoundingStage` fed from one free fixed-point number ``value``, `_EXTRA` bits finer than the stage can see."""

    latency = 1  # as the requantizer uses it, registered

    def __init__(self, rounding: Rounding, output_bits: int) -> None:
        self.rounding = rounding
        self.floor_bits = output_bits + 3  # as the requantizer instantiates it
        self.value_bits = self.floor_bits + FRACTION_BITS + _EXTRA
        value = signed(self.value_bits)
        super().__init__({"value": In(value), "value_then": Out(value), "rounded": Out(signed(self.floor_bits + 1))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.dut = dut = RoundingStage(self.rounding, self.floor_bits, registered=True)
        m.d.comb += [
            Cat(dut.fraction, dut.floor).eq(self.value >> _EXTRA),
            dut.sticky.eq(self.value[:_EXTRA].any()),
            self.value_then.eq(delay(m, self.value, self.latency, name="past_value")),
            self.rounded.eq((self.value_then >> (FRACTION_BITS + _EXTRA)) + dut.up),
            Cover(dut.up & self.value_then[:_EXTRA].any() & (self.value_then < 0)),
            Cover(~dut.up & self.value_then[FRACTION_BITS + _EXTRA - 1]),
        ]
        return m

    @property
    def formulas(self) -> tuple[str]:
        """What IEEE 754 makes of ``value``: a binary32 (or exact binary64), then the nearest integer, ties to even."""
        exponent, mantissa = (8, 24) if self.rounding is Rounding.NEAR_TIE else (11, 53)
        number = f"((_ to_fp {exponent} {mantissa}) RNE {{value_then}})"
        scale = f"((_ to_fp {exponent} {mantissa}) RNE {2.0 ** -(FRACTION_BITS + _EXTRA):.40f})"
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

    latency = 0

    def __init__(self, bits: int) -> None:
        super().__init__({"acc": In(signed(bits)), "rounded": Out(signed(bits + 1))})
        conversion = "((_ to_fp 8 24) RNE {acc})"
        self.formulas = (f"(= {{rounded}} ((_ fp.to_sbv {bits + 1}) RTZ {conversion}))",)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += [
            self.rounded.eq(_round_to_float32(m, self.acc)),
            Cover((self.acc < 0) & (self.rounded < self.acc)),
            Cover((self.acc > 0) & (self.rounded == 1 << (len(self.acc) - 1))),
        ]
        return m


def _accumulator(bits: int, *, quick: bool = False) -> Property:
    return Property(
        name=f"accumulator of {bits} bits to float32",
        claim=f"every {bits}-bit accumulator is rounded as IEEE 754 converts it to binary32",
        harness=lambda: AccumulatorHarness(bits),
        method=FromAnyState(),
        bug=SeededBug(
            module="requantizer",
            old="up = acc[drop - 1] & (acc[drop] | acc[: drop - 1].any())",
            new="up = acc[drop - 1]",
        ),
        quick=quick,
    )


_WINDOW = SeededBug(module="rounding", old="window = 24 - top", new="window = 23 - top")
_STICKY = SeededBug(module="rounding", old="(self.fraction[:-1] == 0) & ~self.sticky", new="(self.fraction[:-1] == 0)")

PROPERTIES = (
    *(_rounding(Rounding.NEAR_TIE, bits, _WINDOW, quick=bits == 8) for bits in range(2, 17)),
    *(_rounding(Rounding.NEAREST, bits, _STICKY, quick=bits == 8) for bits in (2, 8, 16)),
    *(_accumulator(bits, quick=bits == 32) for bits in (26, 32, 40)),
)
