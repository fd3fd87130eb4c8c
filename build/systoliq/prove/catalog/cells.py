"""Proofs of the vendors' cells: as instantiated, they compute the same as the portable form.

The simulation models (``systoliq/hw/cells/models``) define the cells. The proofs also show that no cell is instantiated
in a mode that its model does not implement: see `..netlist.definition`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from unittest import mock

from amaranth.hdl import Assert, Cat, Cover, Module, Mux, Signal, signed, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from systoliq.hw.cells import ecp5, gowin
from systoliq.hw.cells.ecp5 import adder
from systoliq.hw.delay import delay
from systoliq.hw.hierarchy import place
from systoliq.hw.multiplier import LIMB_BITS, Multiplier, WideMultiplier

from ..property import FromAnyState, Property, SeededBug
from .array import config_of, mac

__all__ = ["PROPERTIES", "macs"]


class ProductHarness(wiring.Component):
    """The product, ``latency`` cycles after the operands. ``dut`` is a `Multiplier` or a `WideMultiplier`."""

    def __init__(self, dut: Multiplier | WideMultiplier) -> None:
        self.dut = dut
        self.latency = dut.latency
        super().__init__({"a": In(dut.a.shape()), "b": In(dut.b.shape())})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.dut = dut = self.dut
        a = delay(m, self.a, self.latency, name="past_a")
        b = delay(m, self.b, self.latency, name="past_b")
        m.d.comb += [dut.a.eq(self.a), dut.b.eq(self.b), Cover((dut.product < -1) & (b != 0))]
        m.d.comb += Assert(dut.product == a * b)
        return m


class LimbsHarness(wiring.Component):
    """A `WideMultiplier` that cuts both operands, in two steps that a solver can take at full width.

    Separate multipliers compute the products of the limbs, and are checked. The product must be the weighted sum of
    these. The proof assumes only that multiplication is distributive: the operands are the weighted sums of their
    limbs.
    """

    def __init__(self, a_bits: int, b_bits: int, *, cells: str) -> None:
        self.dut = WideMultiplier(a_bits, b_bits, cells=cells)
        self.latency = self.dut.latency
        super().__init__({"a": In(signed(a_bits)), "b": In(unsigned(b_bits))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.dut = dut = self.dut
        limb = LIMB_BITS[dut.cells]
        a_limbs = Cat(self.a[:limb], 0).as_signed(), self.a[limb:].as_signed()
        b_limbs = Cat(self.b[:limb], 0).as_signed(), Cat(self.b[limb:], 0).as_signed()
        total = Signal.like(dut.product)
        terms = []
        for i, a in enumerate(a_limbs):
            for j, b in enumerate(b_limbs):
                limbs = Multiplier(len(a), len(b), cells=dut.cells)
                m.submodules[f"multiplier_{i}{j}"] = place(limbs, platform)
                a_then, b_then = (delay(m, v, limbs.latency, name=f"{n}_{i}{j}") for v, n in ((a, "a"), (b, "b")))
                m.d.comb += [
                    limbs.a.eq(a),
                    limbs.b.eq(b),
                    Assert(limbs.product == a_then.as_signed() * b_then.as_signed()),
                ]
                product = delay(m, limbs.product, self.latency - limbs.latency, name=f"product_{i}{j}")
                terms.append(product.as_signed() << (i + j) * limb)
        m.d.comb += [
            dut.a.eq(self.a),
            dut.b.eq(self.b),
            total.eq(sum(terms)),
            Assert(dut.product == total),
            Cover(dut.product < -1),
        ]
        return m


class AdderHarness(wiring.Component):
    """The adder of two terms."""

    latency = 0

    def __init__(self, a_bits: int, b_bits: int) -> None:
        super().__init__({"a": In(signed(a_bits)), "b": In(signed(b_bits))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        total = adder(m, self.a, self.b, name="sum").as_signed()
        m.d.comb += [Assert(total == self.a + self.b), Cover(total < self.a)]
        return m


class ClearingAdderHarness(wiring.Component):
    """The accumulator's adder: it adds to the held sum, or to 0."""

    latency = 0

    def __init__(self, cells: str, term_bits: int, bits: int, *, carry_in: bool, carry_out: bool) -> None:
        self.add = {"ecp5": ecp5.clearing_adder, "gowin": gowin.clearing_adder}[cells]
        self.carry_in, self.carry_out = carry_in, carry_out
        super().__init__({"term": In(signed(term_bits)), "held": In(unsigned(bits)), "clear": In(1), "carry": In(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        carry_in = self.carry if self.carry_in else None
        total = self.add(m, self.term, self.held, self.clear, name="sum", carry_in=carry_in, carry_out=self.carry_out)
        bits = len(self.held)
        term = Signal(unsigned(bits))
        expected = Signal(unsigned(bits + self.carry_out))
        m.d.comb += [
            term.eq(self.term),
            expected.eq(term + Mux(self.clear, 0, self.held) + (self.carry if self.carry_in else 0)),
            Assert(total == expected),
            Cover(self.clear & (total != 0) & (self.held != 0)),
            Cover(~self.clear & (total[:bits] < self.held)),
        ]
        return m


def _as_wired(name: str, claim: str, harness: Callable[[], Any], bug: SeededBug, *, quick: bool = False) -> Property:
    return Property(name=name, claim=claim, harness=harness, method=FromAnyState(), bug=bug, quick=quick)


def _product(cells: str, a_bits: int, b_bits: int, bug: SeededBug, *, quick: bool = False) -> Property:
    return _as_wired(
        f"{cells} multiplier, {a_bits} x {b_bits} bits",
        "the product of all operands, at the stated latency",
        lambda: ProductHarness(Multiplier(a_bits, b_bits, cells=cells)),
        bug,
        quick=quick,
    )


def _wide(cells: str, a_bits: int, b_bits: int, bug: SeededBug) -> Property:
    return _as_wired(
        f"{cells} wide multiplier, {a_bits} x {b_bits} bits",
        "the products of the operands' limbs, each at its weight, add up to the product at the stated latency",
        lambda: LimbsHarness(a_bits, b_bits, cells=cells),
        bug,
    )


def _narrow(cells: str, a_bits: int, b_bits: int, limb_bits: int, bug: SeededBug, *, quick: bool = False) -> Property:
    """With limbs of so few bits that a solver can multiply sums out."""

    def harness() -> ProductHarness:
        with mock.patch.dict(LIMB_BITS, {cells: limb_bits}):
            return ProductHarness(WideMultiplier(a_bits, b_bits, cells=cells))

    return _as_wired(
        f"{cells} wide multiplier, {a_bits} x {b_bits} bits, were limbs of {limb_bits}",
        "the product of all operands, at the stated latency",
        harness,
        bug,
        quick=quick,
    )


def _adder(a_bits: int, b_bits: int, bug: SeededBug) -> Property:
    return _as_wired(f"ecp5 adder, {a_bits} + {b_bits} bits", "the sum", lambda: AdderHarness(a_bits, b_bits), bug)


def _clearing_adder(
    cells: str,
    term_bits: int,
    bits: int,
    bug: SeededBug,
    *,
    carry_in: bool = False,
    carry_out: bool = False,
    quick: bool = False,
) -> Property:
    carries = f"{', carry in' * carry_in}{', carry out' * carry_out}"
    return _as_wired(
        f"{cells} accumulator's adder, {term_bits} bits to {bits}{carries}",
        "the term, what was held unless it is cleared, and the carry: their sum",
        lambda: ClearingAdderHarness(cells, term_bits, bits, carry_in=carry_in, carry_out=carry_out),
        bug,
        quick=quick,
    )


def macs(cells: str, bug: SeededBug, *, depths: Sequence[int] = (1, 2, 3), **options: Any) -> list[Property]:
    """The multiply-accumulates of a family: split and whole accumulators, operands of either sign."""
    configs = (
        config_of(depth=1, cells=cells),
        config_of(depth=1, signs="su", accumulator_bits=24, cells=cells),
        config_of(depth=2, cells=cells),
        config_of(depth=2, signs="uu", accumulator_bits=24, cells=cells),
        config_of(depth=3, signs="us", cells=cells),
    )
    quick = configs[0] if cells != "portable" else None
    return [mac(config, bug, quick=config == quick, **options) for config in configs if config.depth in depths]


_HELD_FOR_EVER = SeededBug(module="mac.fabric", old="held.eq(Mux(clear, 0, after))", new="held.eq(after)")
_NO_PIPELINE = SeededBug(
    module="cells.ecp5", old='("INPUTA", "INPUTB", "PIPELINE", "OUTPUT")', new='("INPUTA", "INPUTB", "OUTPUT")'
)
_NEVER_CLEARED = SeededBug(module="cells.ecp5", old="_ADD_UNLESS = 0xA6AA", new="_ADD_UNLESS = 0x66AA")
_NOTHING_FED = SeededBug(module="cells.ecp5", old="_FEED = 0x000A", new="_FEED = 0x0000")
_NO_CARRY = SeededBug(module="cells.ecp5", old="_ADD_UNLESS = 0xA6AA", new="_ADD_UNLESS = 0xA6A0")
_CLEARED_EARLY = SeededBug(module="mac.clearing", old='clear = delay(m, clear, 1, name=f"{name}_clear")', new="pass")
_ROWS_ALIKE = SeededBug(module="cells.ecp5", old="_LAST_ROW = 0x8788", new="_LAST_ROW = 0x7888")
_KEPT_ALWAYS = SeededBug(module="mac.ecp5_alu", old="keep.eq(~clear)", new="keep.eq(1)")
_SECOND_DROPPED = SeededBug(module="cells.ecp5_alu", old="_PRODUCT if len(a) == 2 else _NOTHING", new="_NOTHING")
_NO_OUTPUT_REGISTER = SeededBug(module="cells.gowin", old='"PIPE_REG", "OUT_REG")', new='"PIPE_REG")')
_UNSIGNED = SeededBug(module="cells.gowin", old="i_ASIGN=1", new="i_ASIGN=0")
_HELD_ALWAYS = SeededBug(module="cells.gowin", old="i_I1=~clear", new="i_I1=1")

_NEVER_LOADED = SeededBug(module="mac.nexus", old="i_LOADC=clear", new="i_LOADC=0")
_LOADED_LATE = SeededBug(module="mac.nexus", old="clear_delay = 0", new="clear_delay = 1")
_FIRST_TWICE = SeededBug(module="mac.nexus", old="adder_tree(m, sums, bits", new="adder_tree(m, sums[:1] * 2, bits")
_NO_OPERAND_REGISTER = SeededBug(module="cells.ice40", old="p_A_REG=Const(1, 1)", new="p_A_REG=Const(0, 1)")
_UNSUPPORTED_OUTPUT = SeededBug(module="cells.ice40", old="(OUTPUT_SELECT=3)", new="(OUTPUT_SELECT=0)")
_HALVES_SWAPPED = SeededBug(module="cells.ice40", old="i_C=addend[_WIDTH:]", new="i_C=addend[:_WIDTH]")
_NEVER_CLEARED_INSIDE = SeededBug(module="mac.xilinx", old="Mux(clear, 0, held) + term", new="held + term")
_UNSUPPORTED_OPMODE = SeededBug(module="cells.dsp48e2", old="Const(0b0101, 4)", new="Const(0b0001, 4)")
_CLEARED_LATE = SeededBug(module="mac.dsp48e2", old="return self.latency - 2", new="return self.latency - 1")
_MIDDLE_EARLY = SeededBug(module="multiplier", old='held(outer[:limb], "lowest"), upper', new="outer[:limb], upper")
_LOWEST_EARLY = SeededBug(module="multiplier", old='held(low[:limb], "lowest"), upper', new="low[:limb], upper")
_FEW_EARLY = SeededBug(module="multiplier", old="few, behind, name", new="few, behind - 1, name")

PROPERTIES = (
    _product("ecp5", 8, 8, _NO_PIPELINE, quick=True),
    _product("ecp5", 9, 9, _NO_PIPELINE),
    _product("ecp5", 18, 18, _NO_PIPELINE),
    _product("ice40", 8, 8, _UNSUPPORTED_OUTPUT, quick=True),
    _product("ice40", 9, 9, _NO_OPERAND_REGISTER),
    _product("ice40", 16, 16, _NO_OPERAND_REGISTER),
    _product("gowin", 8, 8, _NO_OUTPUT_REGISTER, quick=True),
    _product("gowin", 9, 9, _UNSIGNED),
    _product("gowin", 18, 18, _NO_OUTPUT_REGISTER),
    _wide("ecp5", 33, 24, _MIDDLE_EARLY),
    _wide("gowin", 33, 24, _MIDDLE_EARLY),
    _wide("ice40", 31, 24, _MIDDLE_EARLY),
    _narrow("ecp5", 7, 6, 3, _MIDDLE_EARLY),
    _narrow("ice40", 7, 6, 3, _MIDDLE_EARLY),
    _narrow("ecp5", 10, 5, 5, _LOWEST_EARLY, quick=True),
    _narrow("ice40", 5, 8, 4, _LOWEST_EARLY),
    _narrow("ice40", 9, 6, 3, _FEW_EARLY),
    *(_adder(bits, bits, _NO_CARRY) for bits in (16, 17, 18)),
    _clearing_adder("ecp5", 16, 16, _NEVER_CLEARED, carry_out=True, quick=True),
    _clearing_adder("ecp5", 16, 16, _NOTHING_FED, carry_in=True),
    _clearing_adder("ecp5", 18, 24, _NEVER_CLEARED),
    _clearing_adder("gowin", 16, 16, _HELD_ALWAYS, carry_in=True, carry_out=True, quick=True),
    _clearing_adder("gowin", 18, 32, _HELD_ALWAYS),
    *macs("portable", _HELD_FOR_EVER),
    *macs("ecp5", _CLEARED_EARLY),
    *(
        # A solver cannot multiply 8 x 8 bits out; narrower products have rows of every kind too.
        mac(config_of(depth=depth, bits=bits, signs=signs, cells="ecp5-lut"), _ROWS_ALIKE, quick=bits == 3)
        for depth, bits, signs in ((1, 3, "ss"), (1, 4, "us"), (2, 4, "ss"), (1, 5, "ss"))
    ),
    *macs("ecp5-alu", _KEPT_ALWAYS, depths=(1, 2)),
    *macs("ecp5-alu", _SECOND_DROPPED, depths=(3,)),
    *macs("gowin", _CLEARED_EARLY),
    *macs("nexus", _HELD_FOR_EVER, depths=(1, 2)),
    *macs("nexus", _NEVER_LOADED, depths=(3,)),
    mac(config_of(depth=4, cells="nexus"), _LOADED_LATE),
    mac(config_of(depth=4, signs="uu", accumulator_bits=24, cells="nexus"), _LOADED_LATE),
    mac(config_of(depth=5, cells="nexus"), _FIRST_TWICE),
    *macs("ice40", _HALVES_SWAPPED, depths=(1,)),
    *macs("ice40", _NO_OPERAND_REGISTER, depths=(2, 3)),
    *macs("xilinx", _NEVER_CLEARED_INSIDE),
    *macs("dsp48e2", _CLEARED_LATE),
)
