"""Proofs of the multiply-accumulate with two products of 8 x 8 bits in one ECP5 multiplier, in three steps.

One product of packed operands is two products a lane apart, and lookup tables give the lowest bits of a product. Both
are properties of multiplication, and proven as such (the first with an A of 3 bits, which solvers need;
tests/hw/mac/test_ecp5_overlap.py tries all operands of 8 bits). The third step proves that the form makes two sums of
them, for any multiplication with these properties.
"""

from __future__ import annotations

from amaranth.hdl import Assert, Assume, Const, Cover, Module, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from systoliq.golden.formats import IntFormat
from systoliq.hw.cells.ecp5 import WIDTH
from systoliq.hw.config import ArrayConfig
from systoliq.hw.delay import delay
from systoliq.hw.low_product import low_product, low_product_latency
from systoliq.hw.mac import operand_layout
from systoliq.hw.mac.ecp5_overlap import Ecp5OverlapForm
from systoliq.hw.mac.form import as_signed

from ..property import FromAnyState, Property, SeededBug
from .array import MacHarness, config_of, mac
from .cells import macs
from .pairs import PackedHarness

__all__ = ["PROPERTIES"]


def _a_lane_apart(m: Module, config: ArrayConfig, a: Value, first: Value, second: Value) -> Value:
    """True if the cell's product of ``a`` and both packed operands was the sum of two products at their places, a cycle
    ago.

    The cell's operands come from registers, as in its model: otherwise Yosys would remove bits that are constantly 0.
    """
    form = Ecp5OverlapForm(config)
    operand, whole = signed(WIDTH + 1), signed(2 * WIDTH + 2)  # the widths of the cell's model
    factor, packed = Signal(operand, reset_less=True), Signal(operand, reset_less=True)
    product, expected = Signal(whole), Signal(whole, reset_less=True)
    below_a = WIDTH - len(as_signed(a))  # zeros below the operands
    below_b = WIDTH - form.lane - config.b.bits
    lower, upper = a * first + _raised(config, a), a * second
    m.d.sync += [
        factor.eq(a << below_a),
        packed.eq(form.packed(first, second) << below_b),
        expected.eq((upper << form.lane) + lower << below_a + below_b),
    ]
    m.d.comb += product.eq(factor * packed)
    return product == expected


def _raised(config: ArrayConfig, a: Value) -> Value:
    """The difference between the first product and ``a * first``."""
    return a << config.b.bits - 1 if config.b.signed else Const(0)


def _in_range(m: Module, config: ArrayConfig, a: Value, first: Value, second: Value) -> Value:
    """True if both products, the first one with its addend, lie between the products of the operands' extremes."""
    ends, raised = (config.a.min, config.a.max), -config.b.min

    def between(product: Value, least: int, most: int) -> Value:
        corners = [left * right for left in ends for right in (least, most)]
        return (product >= min(corners)) & (product <= max(corners))

    lower = between(a * first + _raised(config, a), 0, config.b.max + raised)
    return lower & between(a * second, config.b.min, config.b.max)


def _low(m: Module, a: Value, b: Value, bits: int) -> Value:
    """True if the lookup tables return the lowest ``bits`` of the product, some cycles later."""
    product = Signal(bits)
    m.d.comb += product.eq(a * b)
    return low_product(m, a, b, bits, name="low") == delay(m, product, low_product_latency(bits), name="past")


class LowHarness(wiring.Component):
    """The lowest ``bits`` of a product."""

    def __init__(self, a: IntFormat, b: IntFormat, bits: int) -> None:
        self.bits, self.latency = bits, low_product_latency(bits)
        super().__init__({"a": In(operand_layout(a, 1)), "b": In(operand_layout(b, 1))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        a, b = self.a[0], self.b[0]
        m.d.comb += [Assert(_low(m, a, b, self.bits)), Cover((a > 1) & (b > a))]
        return m


class OverlapHarness(MacHarness):
    """`MacHarness` with products that have only the properties that `PackedHarness` and `LowHarness` prove."""

    free_products = True

    def elaborate(self, platform: object) -> Module:
        m = super().elaborate(platform)
        overlap = Ecp5OverlapForm(self.config).overlap
        for i in range(self.config.depth):
            m.submodules[f"known_{i}"] = known = Module()
            a, first, second = self.a[i], self.b[0][i], self.b[1][i]
            m.d.comb += Assume(_a_lane_apart(m, self.config, a, first, second))
            m.d.comb += Assume(_in_range(m, self.config, a, first, second))
            m.d.comb += Assume(_low(known, a, second, overlap))
        return m


def _packed(a: str, b: str) -> Property:
    config = config_of(cells="ecp5-pair").replace(a=IntFormat.parse(a), b=IntFormat.parse(b))
    return Property(
        name=f"{config.cells} packed product {config.a.name} x {config.b.name}",
        claim="the product of two numbers packed into one is their two products a lane apart, added",
        harness=lambda: PackedHarness(config, _a_lane_apart, _in_range, latency=1),
        method=FromAnyState(),
        bug=_NOT_RAISED if config.b.signed else _LANE_TOO_HIGH,
    )


def _lowest(a: str, b: str, bits: int, *, quick: bool = False) -> Property:
    formats = IntFormat.parse(a), IntFormat.parse(b)
    return Property(
        name=f"lowest {bits} bits of {a} x {b} in ECP5's lookup tables",
        claim="the digits of the product, at the stated latency",
        harness=lambda: LowHarness(*formats, bits),
        method=FromAnyState(),
        bug=_CARRY_LOST,
        quick=quick,
    )


def _multiplied_out(a: str, b: str, bug: SeededBug, *, depth: int = 1, quick: bool = False) -> Property:
    formats = {"a": IntFormat.parse(a), "b": IntFormat.parse(b)}
    config = config_of(bits=2, depth=depth, accumulator_bits=24, cells="ecp5-pair").replace(**formats)
    return mac(config, bug, quick=quick)


_NOT_RAISED = SeededBug(module="mac.ecp5_overlap", old="first[:-1], ~first[-1]", new="first[:-1], first[-1]")
_LANE_TOO_HIGH = SeededBug(module="mac.ecp5_pair", old="Cat(first, Const(0, fill)", new="Cat(first, Const(0, fill + 1)")
_CARRY_LOST = SeededBug(module="low_product", old="x[1] ^ y[1] ^ (x[0] & y[0])", new="x[1] ^ y[1]")
_BORROW_LOST = SeededBug(module="mac.ecp5_overlap", old="Cat(low, above[overlap])", new="Cat(low, 0)")
_NEVER_LOWERED = SeededBug(module="mac.ecp5_overlap", old="if not self.config.b.signed:", new="if True:")

PROPERTIES = (
    *(_packed(a, b) for a, b in (("uint3", "int8"), ("int3", "uint8"), ("uint3", "uint8"))),
    _lowest("int8", "int8", 4, quick=True),
    _lowest("int8", "int8", 6),
    _lowest("int8", "int5", 8),
    *macs("ecp5-pair", _BORROW_LOST, depths=(1, 2), harness=OverlapHarness),
    mac(config_of(depth=2, signs="us", cells="ecp5-pair"), _NEVER_LOWERED, harness=OverlapHarness),
    _multiplied_out("int2", "int8", _NEVER_LOWERED, quick=True),
    _multiplied_out("int2", "int9", _BORROW_LOST),
)
