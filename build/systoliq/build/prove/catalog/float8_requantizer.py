"""Proofs of float8's requantizer: digits that are an exact product, and its one rounding to a code."""

from __future__ import annotations

from unittest import mock

from amaranth.hdl import Assert, Assume, Cat, Const, Cover, Module, Signal, Value, signed, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.float8 import E4M3FN, E5M2FNUZ, FLOAT8, Float8Format
from systoliq.golden.float8_matmul import sum_bits
from systoliq.golden.float8_requantization import MANTISSA_BITS
from systoliq.hw import digit_product
from systoliq.hw.delay import delay
from systoliq.hw.digit_product import DIGIT_BITS, DigitProduct
from systoliq.hw.float8_requantizer import Float8Requantizer, Float8RequantizerConfig
from systoliq.hw.hierarchy import place
from systoliq.hw.multiplier import WideMultiplier

from ..property import FromAnyState, Property, SeededBug
from .float8_numbers import EXACT, EXACT_BIAS, WIDE_BIAS, bits, magnitude

__all__ = ["PROPERTIES"]

_LONGEST = 2048  # K of the sums that leave room for all shorter ones, of all operands


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
    """The digits of a product, gathered, against what the products of the number's limbs add up to, each at its weight.

    Multipliers beside it give the limbs' products, of which only that is known which `LimitHarness` proves. What is
    left to trust is that multiplication is distributive.
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
    """That no product of a digit and a factor is above the product of the greatest."""

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
    """Whether the product of a digit and a factor is in its range, and the greatest of it."""
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


class RequantizerHarness(wiring.Component):
    """The requantizer with its product left free: a mantissa of 1, and a sum as wide as any product.

    Its exponents go from where nothing is left of the greatest product to where the least one is beyond all codes.
    """

    def __init__(self, output: Float8Format, product_bits: int, flags: int) -> None:
        most = (output.max_code >> output.mantissa_bits) + 1
        self.output = output
        self.config = Float8RequantizerConfig(
            sum_bits=product_bits + 1,
            flag_bits=flags,
            min_exponent=-product_bits - output.mantissa_bits - 1,
            max_exponent=most,
            output=output,
        )
        self.dut = Float8Requantizer(self.config)
        self.latency = self.dut.latency
        shapes = {"product": signed(product_bits + 1), "flags": unsigned(flags), "exponent": self.dut.exponent.shape()}
        self._inputs = shapes
        ports = {name: In(shape) for name, shape in shapes.items()}
        super().__init__(ports | {f"{name}_then": Out(shape) for name, shape in shapes.items()} | {"y": Out(8)})
        extended = 15 - self.dut.exponent.shape().width
        exponent = f"(bvadd ((_ sign_extend {extended}) {{exponent_then}}) {bits(EXACT_BIAS - WIDE_BIAS, 15)})"
        real = f"(fp.mul RNE ((_ to_fp {EXACT}) RNE {{product_then}}) (fp #b0 {exponent} {bits(0, 112)}))"
        self.formulas = (self._meaning(real, flags),)

    def _meaning(self, real: str, flags: int) -> str:
        """That ``y`` lies between the ties below and above ``real``, which are even codes', or is what flags say."""
        output = self.output
        code, size = "((_ extract 6 0) {y})", f"(fp.abs {real})"
        even = "(= ((_ extract 0 0) {y}) #b0)"
        below = magnitude(output, f"(bvsub {code} {bits(1, 7)})", "1")
        above = magnitude(output, code, "1")
        from_below = f"(or (= {code} {bits(0, 7)}) (fp.gt {size} {below}) (and {even} (fp.eq {size} {below})))"
        last = bits(output.max_code, 7)
        from_above = f"(or (= {code} {last}) (fp.lt {size} {above}) (and {even} (fp.eq {size} {above})))"
        negative = f"(bvslt {{product_then}} {bits(0, self._inputs['product'].width)})"
        if output.fnuz:
            negative = f"(and {negative} (not (= {code} {bits(0, 7)})))"
        sign = f"(= (= ((_ extract 7 7) {{y}}) #b1) {negative})"
        y = f"(and (bvule {code} {last}) {from_below} {from_above} {sign})"
        nan = f"(= {{y}} {bits(output.nan_code, 8)})"
        if flags == 1:
            return f"(ite {{flags_then}} {nan} {y})"
        infinities = {1: output.max_code, 2: output.max_code | 0x80}
        for flag, most in infinities.items():
            y = f"(ite (= {{flags_then}} {bits(flag, 2)}) (= {{y}} {bits(most, 8)}) {y})"
        return f"(ite (= {{flags_then}} #b11) {nan} {y})"

    def elaborate(self, platform: object) -> Module:
        m = Module()
        dut, config = self.dut, self.config
        m.submodules.dut = place(dut, None)
        m.d.comb += [
            dut.acc.eq(Cat(self.product, self.flags)),
            dut.multiplier.eq(1),
            dut.exponent.eq(self.exponent),
            Assume((self.exponent >= config.min_exponent) & (self.exponent <= config.max_exponent)),
            self.y.eq(dut.y),
            Cover(dut.y == 1),
            Cover(dut.y == self.output.max_code | 0x80),
        ]
        for name in self._inputs:
            past = delay(m, getattr(self, name), self.latency, name=f"past_{name}")
            m.d.comb += getattr(self, f"{name}_then").eq(past)
        return m


def _requantizer(output: Float8Format, flags: int) -> Property:
    product_bits = sum_bits(E5M2FNUZ, E5M2FNUZ, _LONGEST) + MANTISSA_BITS
    return Property(
        name=f"float8 requantizer, {output.name[7:]}, {flags} flag{'s' * (flags > 1)}",
        claim=f"every {product_bits}-bit product times every power of two gives the nearest code, half to even, or the "
        "greatest; flags prevail",
        harness=lambda: RequantizerHarness(output, product_bits, flags),
        method=FromAnyState(),
        bug=_FORGOTTEN if flags == 1 else _HALF_TO_ODD,
        quick=output is E4M3FN and flags == 2,
    )


def _digits(number_bits: int) -> Property:
    return Property(
        name=f"float8 digits, {number_bits} x {MANTISSA_BITS} bits",
        claim="the digits are what the products of the magnitude's limbs, each at its weight, add up to, in time",
        harness=lambda: DigitsHarness(number_bits, MANTISSA_BITS),
        method=FromAnyState(),
        bug=_NO_CARRY,
    )


_FORGOTTEN = SeededBug(module="float8_requantizer", old="Mux(found, rest | before, more)", new="Mux(found, rest, more)")
_HALF_TO_ODD = SeededBug(module="normalized", old="(more | mantissa[0])", new="(more | ~mantissa[0])")
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
    *(_requantizer(output, flags) for output in FLOAT8 for flags in (1, 2)),
)
