"""Proofs of the product in float8's requantizer: its digits are exact. `float8_rounding` proves the rounding."""

from __future__ import annotations

from unittest import mock

from amaranth.hdl import Assert, Assume, Cat, Const, Cover, Module, Signal, Value, signed, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from systoliq.golden.float8_requantization import MANTISSA_BITS
from systoliq.hw import digit_product
from systoliq.hw.delay import delay
from systoliq.hw.digit_product import DIGIT_BITS, DigitProduct
from systoliq.hw.hierarchy import place
from systoliq.hw.multiplier import WideMultiplier

from ..property import FromAnyState, Property, SeededBug

__all__ = ["PROPERTIES"]


class _DigitsHarness(wiring.Component):
    """A product in digits: its factors, free, and its digits, gathered ``latency`` cycles after them."""

    def __init__(self, dut: DigitProduct, number_bits: int, factor_bits: int) -> None:
        self.dut = dut
        self._count = dut.digits.shape().length
        self.latency = dut.latency + self._count - 1
        super().__init__({"number": In(signed(number_bits)), "factor": In(unsigned(factor_bits))})

    def connect(self, m: Module) -> Value:
        """Give the factors to the block; returns the digits of their product, the lowest first."""
        m.d.comb += [self.dut.number.eq(self.number), self.dut.factor.eq(self.factor)]
        return Cat(delay(m, self.dut.digits[i], self._count - 1 - i, name=f"digit_{i}") for i in range(self._count))


class DigitsHarness(_DigitsHarness):
    """The assembled digits of a product, compared with the sum of the products of the number's limbs, each at its
    weight.

    Separate multipliers give the products of limbs. The proof only uses the property of these that `LimitHarness`
    proves. It relies on the distributive law of multiplication.
    """

    free_products = True

    def __init__(self, number_bits: int, factor_bits: int) -> None:
        super().__init__(DigitProduct(number_bits, factor_bits, cells="portable"), number_bits, factor_bits)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.dut = self.dut
        found, expected = Signal(self._count * DIGIT_BITS), Signal(self._count * DIGIT_BITS)
        m.d.comb += [
            found.eq(self.connect(m)),
            expected.eq(self._expected(m, platform)),
            Assert(found == expected),
            Cover((found[-DIGIT_BITS:] != 0) & (found[:DIGIT_BITS] == 0)),
        ]
        return m

    def _expected(self, m: Module, platform: object) -> Value:
        size = abs(self.number)
        total: Value = Const(0, 1)
        for i in range(-(-len(self.number) // DIGIT_BITS)):
            limb = size[i * DIGIT_BITS : (i + 1) * DIGIT_BITS]
            multiplier = WideMultiplier(DIGIT_BITS + 1, len(self.factor), cells="portable")
            m.submodules[f"multiplier_{i}"] = place(multiplier, platform)
            m.d.comb += [
                multiplier.a.eq(Cat(limb, Const(0, DIGIT_BITS + 1 - len(limb))).as_signed()),
                multiplier.b.eq(self.factor),
                Assume(_within_limit(multiplier.product, len(self.factor))[0]),
            ]
            product = delay(m, multiplier.product.as_unsigned(), self.latency - multiplier.latency, name=f"term_{i}")
            total += product << (i * DIGIT_BITS)
        return total


class LimitHarness(wiring.Component):
    """Claim that no product of a digit and a factor exceeds the product of the greatest digit and factor."""

    def __init__(self, factor_bits: int) -> None:
        self.dut = WideMultiplier(DIGIT_BITS + 1, factor_bits, cells="portable")
        self.latency = self.dut.latency
        super().__init__({"digit": In(unsigned(DIGIT_BITS)), "factor": In(unsigned(factor_bits))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.dut = dut = self.dut
        m.d.comb += [dut.a.eq(Cat(self.digit, 0).as_signed()), dut.b.eq(self.factor)]
        within, most = _within_limit(dut.product, len(self.factor))
        m.d.comb += [Assert(within), Cover(dut.product == most)]
        return m


def _within_limit(product: Value, factor_bits: int) -> tuple[Value, int]:
    """A bit that is 1 if the product of a digit and a factor is in its range, and the greatest value of the range."""
    most = ((1 << DIGIT_BITS) - 1) * ((1 << factor_bits) - 1)
    return (product >= 0) & (product <= most), most


class ProductsOfFewDigitsHarness(_DigitsHarness):
    """The digits of a product, were they of 4 bits: gathered, the magnitude times the factor."""

    _DIGIT_BITS = 4

    def __init__(self, number_bits: int, factor_bits: int) -> None:
        with mock.patch.object(digit_product, "DIGIT_BITS", self._DIGIT_BITS):
            dut = DigitProduct(number_bits, factor_bits, cells="portable")
        super().__init__(dut, number_bits, factor_bits)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        with mock.patch.object(digit_product, "DIGIT_BITS", self._DIGIT_BITS):
            m.submodules.dut = self.dut.elaborate(platform)
        number = delay(m, self.number, self.latency, name="past_number").as_signed()
        factor = delay(m, self.factor, self.latency, name="past_factor")
        found = Signal(self._count * self._DIGIT_BITS)
        m.d.comb += [
            found.eq(self.connect(m)),
            Assert(found == abs(number) * factor),
            Cover((found[-self._DIGIT_BITS :] != 0) & (number < 0)),
        ]
        return m


def _digits(number_bits: int) -> Property:
    return Property(
        name=f"float8 digits, {number_bits} x {MANTISSA_BITS} bits",
        claim="the digits are the sum of the products of the magnitude's limbs, each at its weight, in time",
        harness=lambda: DigitsHarness(number_bits, MANTISSA_BITS),
        method=FromAnyState(),
        bug=_NO_CARRY,
    )


_NO_CARRY = SeededBug(module="digit_product", old="carry = total[-1]", new="carry = 0")

PROPERTIES = (
    Property(
        name=f"float8 limb's product, {DIGIT_BITS} x {MANTISSA_BITS} bits",
        claim="a product of a digit and a mantissa is at least 0, and at most that of the greatest",
        harness=lambda: LimitHarness(MANTISSA_BITS),
        method=FromAnyState(),
        bug=SeededBug(module="multiplier", old="delay(m, a * b, 1,", new="delay(m, a * b + 1, 1,"),
    ),
    _digits(48),
    _digits(78),
    Property(
        name="float8 digits, were they of 4 bits, 10 x 5 bits",
        claim="the digits are those of the magnitude times the factor",
        harness=lambda: ProductsOfFewDigitsHarness(10, 5),
        method=FromAnyState(),
        bug=_NO_CARRY,
    ),
)
