"""Proofs of the single rounding in float8's requantizer, to codes and to integers."""

from __future__ import annotations

from amaranth.hdl import Assume, Cat, Cover, Module, Value, signed, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.float8 import E4M3FN, E5M2FNUZ, FLOAT8
from systoliq.golden.float8_matmul import sum_bits
from systoliq.golden.float8_requantization import MANTISSA_BITS
from systoliq.golden.formats import INT8, INT32, UINT8
from systoliq.hw.delay import delay
from systoliq.hw.float8_requantizer import Float8Requantizer, Float8RequantizerConfig
from systoliq.hw.hierarchy import place

from ..property import FromAnyState, Property, SeededBug
from .float8_numbers import EXACT, EXACT_BIAS, bits
from .float8_results import Codes, Integers

__all__ = ["PROPERTIES"]

_LONGEST = 2048  # K of the sums that leave room for all shorter ones, of all operands
_PRODUCT_BITS = sum_bits(E5M2FNUZ, E5M2FNUZ, _LONGEST) + MANTISSA_BITS
_INTEGER_PRODUCT_BITS = INT32.bits + MANTISSA_BITS  # of sums of integers, which have no flags


class RequantizerHarness(wiring.Component):
    """The requantizer with its product left free: a mantissa of 1, and a sum as wide as any product.

    Its exponents go from where nothing is left of the greatest product to where the least one is beyond all results.
    """

    def __init__(self, results: Codes | Integers, product_bits: int, flags: int) -> None:
        self.results = results
        least, most = results.fields
        self.config = Float8RequantizerConfig(
            sum_bits=product_bits + 1,
            flag_bits=flags,
            min_exponent=least - product_bits,
            max_exponent=most,
            output=results.output,
        )
        self.dut = Float8Requantizer(self.config)
        self.latency = self.dut.latency
        shapes = {"product": signed(product_bits + 1), "exponent": self.dut.exponent.shape(), **results.inputs}
        self._inputs = shapes | ({"flags": unsigned(flags)} if flags else {})
        ports = {name: In(shape) for name, shape in self._inputs.items()}
        then = {f"{name}_then": Out(shape) for name, shape in self._inputs.items()}
        super().__init__(ports | then | {"y": Out(results.output.bits)})
        extended = 15 - self.dut.exponent.shape().width
        exponent = f"(bvadd ((_ sign_extend {extended}) {{exponent_then}}) {bits(EXACT_BIAS + results.power, 15)})"
        real = f"(fp.mul RNE ((_ to_fp {EXACT}) RNE {{product_then}}) (fp #b0 {exponent} {bits(0, 112)}))"
        negative = f"(bvslt {{product_then}} {bits(0, product_bits + 1)})"
        self.formulas = (self._unless_flagged(results.nearest(real, negative), flags),)

    def _unless_flagged(self, y: str, flags: int) -> str:
        """The claim ``y``, or what flags say."""
        output_bits = self.results.output.bits
        plus, minus, nan = (f"(= {{y}} {bits(result, output_bits)})" for result in self.results.specials)
        if flags == 1:
            return f"(ite {{flags_then}} {nan} {y})"  # a port of one bit is true or false
        for flag, result in ((1, plus), (2, minus), (3, nan)) if flags else ():
            y = f"(ite (= {{flags_then}} {bits(flag, flags)}) {result} {y})"
        return y

    def elaborate(self, platform: object) -> Module:
        m = Module()
        dut, config = self.dut, self.config
        m.submodules.dut = place(dut, None)
        m.d.comb += [
            dut.acc.eq(Cat(self.product, self.flags) if config.flag_bits else self.product),
            dut.multiplier.eq(1),
            dut.exponent.eq(self.exponent),
            Assume((self.exponent >= config.min_exponent) & (self.exponent <= config.max_exponent)),
            self.y.eq(dut.y),
            Cover(self.y == 1),
            Cover(self.y == self.results.specials[1] % (1 << len(self.y))),
        ]
        for name in self._inputs:
            past = delay(m, getattr(self, name), self.latency, name=f"past_{name}")
            m.d.comb += getattr(self, f"{name}_then").eq(past)
        for name in self.results.inputs:  # they do not change
            value = getattr(self, name)
            m.d.comb += getattr(dut, name).eq(value)
            m.d.comb += Assume(Value.cast(value) == delay(m, value, 1, name=f"{name}_before"))
        return m


def _requantizer(
    results: Codes | Integers, flags: int, bug: SeededBug, *, product_bits: int = _PRODUCT_BITS, quick: bool = False
) -> Property:
    nearest = "code, half to even, or the greatest"
    if isinstance(results, Integers):
        nearest = "integer, half to even, plus every zero point, saturated"
    return Property(
        name=f"float8 requantizer, {results.output.name.removeprefix('float8_')}, {flags} flag{'s' * (flags != 1)}",
        claim=f"every {product_bits}-bit product times every power of two gives the nearest {nearest}; flags prevail",
        harness=lambda: RequantizerHarness(results, product_bits, flags),
        method=FromAnyState(),
        bug=bug,
        quick=quick,
    )


_FORGOTTEN = SeededBug(module="float8_requantizer", old="Mux(found, rest | before, more)", new="Mux(found, rest, more)")
_HALF_TO_ODD = SeededBug(module="normalized", old="(more | mantissa[0])", new="(more | ~mantissa[0])")
_TOO_SOON = SeededBug(module="integer_rounding", old="self.field > 0", new="self.field > -1")
_BUGS = {1: _FORGOTTEN, 2: _HALF_TO_ODD}

PROPERTIES = (
    *(
        _requantizer(Codes(output), flags, bug, quick=output is E4M3FN and flags == 2)
        for output in FLOAT8
        for flags, bug in _BUGS.items()
    ),
    _requantizer(Codes(E4M3FN), 0, _FORGOTTEN, product_bits=_INTEGER_PRODUCT_BITS),
    _requantizer(Integers(INT8), 1, _TOO_SOON),
    _requantizer(Integers(INT8), 2, _HALF_TO_ODD),
    _requantizer(Integers(UINT8), 1, _FORGOTTEN),
    _requantizer(Integers(UINT8), 2, _TOO_SOON, quick=True),
)
