"""Proofs of float8's multiply-accumulate: products are exact, also with integers, and sums add up the products."""

from __future__ import annotations

from amaranth.hdl import Assert, Cover, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.float8 import E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ, FLOAT8
from systoliq.golden.float8_matmul import sum_bits
from systoliq.golden.formats import INT8, UINT8, IntFormat
from systoliq.golden.operand import Format
from systoliq.hw.config import ArrayConfig
from systoliq.hw.delay import delay
from systoliq.hw.hierarchy import place
from systoliq.hw.mac import Mac, operand_layout, together
from systoliq.hw.mac.float8_product import Float8Product

from ..property import FromAnyState, Property, SeededBug
from .array import mac
from .float8_numbers import EXACT, bits, operand, power, units

__all__ = ["PROPERTIES"]


class ProductHarness(wiring.Component):
    """The product of two operands, and its flags, compared with IEEE 754's product of their values."""

    def __init__(self, a: Format, b: Format) -> None:
        self._formats = a, b
        self.latency = Float8Product.latency_of(a, b)
        operands = {"a": In(a.bits), "b": In(b.bits), "a_then": Out(a.bits), "b_then": Out(b.bits)}
        super().__init__(operands | {"product": Out(signed(sum_bits(a, b, 1))), "flags": Out(2)})
        real = f"(fp.mul RNE {operand(a, '{a_then}')} {operand(b, '{b_then}')})"
        number = f"((_ to_fp {EXACT}) RNE {{product}})"
        in_units = f"(fp.mul RNE {real} {power(units(a) + units(b))})"
        flags = {0: "(not (or (fp.isNaN {0}) (fp.isInfinite {0})))", 3: "(fp.isNaN {0})"}
        flags |= {1: f"(= {{0}} (_ +oo {EXACT}))", 2: f"(= {{0}} (_ -oo {EXACT}))"}
        self.formulas = (
            *(f"(= (= {{flags}} {bits(flag, 2)}) {condition.format(real)})" for flag, condition in flags.items()),
            f"(fp.eq {number} (ite (= {{flags}} #b00) {in_units} (_ +zero {EXACT})))",
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.dut = dut = Float8Product(*self._formats)
        a, b = (delay(m, each, self.latency, name=f"past_{name}") for name, each in (("a", self.a), ("b", self.b)))
        flags = dut.flags if len(dut.flags) == 2 else dut.flags.replicate(2)
        m.d.comb += [
            dut.a.eq(self.a),
            dut.b.eq(self.b),
            self.a_then.eq(a),
            self.b_then.eq(b),
            self.product.eq(dut.product),
            self.flags.eq(flags),
            Cover(dut.product == -(1 << sum(form.max_shift for form in self._formats))),
            Cover(flags == 3),
        ]
        return m


class SumHarness(wiring.Component):
    """The sum and the flags of all products since ``first``, as computed from a separate `Float8Product`."""

    def __init__(self, config: ArrayConfig, a: Format, b: Format) -> None:
        self.config = config
        self._formats = a, b
        operands = {name: In(operand_layout(form, config.depth)) for name, form in (("a", a), ("b", b))}
        super().__init__(operands | {"first": In(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self.config
        latency = Mac.latency_of(config) + Mac.spread_of(config)
        m.submodules.dut = dut = Mac(config)
        m.d.comb += dut.clear.eq(delay(m, self.first, Mac.clear_delay_of(config), name="clear"))
        total, flags = signed(config.accumulator_bits), config.flag_bits
        before, now = Signal(total, reset_less=True), Signal(total)
        raised_before, raised = Signal(flags, reset_less=True), Signal(flags)
        first = delay(m, self.first, Float8Product.latency_of(*self._formats), name="first_product")
        terms, each = Mux(first, 0, before), Mux(first, 0, raised_before)
        for i in range(config.depth):
            product = Float8Product(*self._formats)
            m.submodules[f"product_{i}"] = place(product, platform)
            m.d.comb += [signal.eq(value) for signal, value in ((product.a, self.a[i]), (product.b, self.b[i]))]
            m.d.comb += [dut.a[i].eq(self.a[i]), dut.b[i].eq(self.b[i])]
            terms, each = terms + product.product, each | product.flags
        m.d.comb += [now.eq(terms), raised.eq(each)]
        m.d.sync += [before.eq(now), raised_before.eq(raised)]
        begun = Signal(reset_less=True)
        m.d.sync += begun.eq(begun | self.first)
        known = delay(m, begun | self.first, latency, name="known")
        rest = latency - Float8Product.latency_of(*self._formats)
        shown = together(m, dut.sum, Mac.parts_of(config), name="shown")
        found = shown[: config.accumulator_bits].as_signed()
        m.d.comb += [
            Assert(~known | (found == delay(m, now, rest, name="expected").as_signed())),
            Assert(~known | (shown[config.accumulator_bits :] == delay(m, raised, rest, name="expected_flags"))),
            Cover(known & (found < -1)),
        ]
        return m


def _product(a: Format, b: Format, bug: SeededBug, *, quick: bool = False) -> Property:
    names = (form.name.removeprefix("float8_") for form in (a, b))
    return Property(
        name=f"float8 product, {' x '.join(names)}",
        claim="every pair of operands gives IEEE 754's product, exactly, or the flags of what it is instead",
        harness=lambda: ProductHarness(a, b),
        method=FromAnyState(),
        bug=bug,
        quick=quick,
    )


def _sum(
    a: Format, b: Format, accumulator_bits: int, depth: int, cells: str, bug: SeededBug, *, quick: bool
) -> Property:
    config = ArrayConfig(a=a, b=b, accumulator_bits=accumulator_bits, depth=depth, cells=cells)
    return mac(config, bug, harness=lambda config: SumHarness(config, a, b), quick=quick)


_INT9 = IntFormat(9, signed=True)  # 8 bits less a zero point

_TWICE = SeededBug(module="mac.float8_product", old="(field - hidden)", new="field")
_NEGATIVE = SeededBug(module="mac.float8_product", old="delay(m, abs(operand), 1", new="delay(m, operand[:], 1")
_HELD_FOR_EVER = SeededBug(module="mac.float8", old="held.eq(Mux(clear, 0, after))", new="held.eq(after)")
_NO_CARRY = SeededBug(module="mac.parts", old="carry = total[-1]", new="carry = Const(0, 1)")
_NEVER_CLEARED = SeededBug(module="cells.ecp5", old="_ADD_UNLESS = 0xA6AA", new="_ADD_UNLESS = 0x66AA")

PROPERTIES = (
    *(_product(a, b, _TWICE, quick=a is E5M2 and b is E4M3FN) for a in FLOAT8 for b in FLOAT8),
    *(_product(a, b, _NEGATIVE) for a, b in ((_INT9, E4M3FN), (_INT9, E5M2FNUZ), (E5M2, INT8), (E4M3FNUZ, _INT9))),
    _product(UINT8, E5M2, _TWICE),
    _sum(E4M3FN, E4M3FN, 48, 1, "portable", _HELD_FOR_EVER, quick=True),
    _sum(_INT9, E5M2, 52, 2, "portable", _HELD_FOR_EVER, quick=False),
    _sum(E4M3FN, E5M2, 62, 2, "portable", _HELD_FOR_EVER, quick=False),
    _sum(E4M3FN, E4M3FN, 48, 3, "portable", _NO_CARRY, quick=False),
    _sum(E5M2, E5M2FNUZ, 77, 1, "portable", _HELD_FOR_EVER, quick=False),
    _sum(E5M2, E5M2, 76, 1, "ecp5", _NEVER_CLEARED, quick=False),
)
