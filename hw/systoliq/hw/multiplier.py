"""Multipliers: one product a cycle, pipelined as the multiplier cells of the target are.

`Multiplier` is one cell's worth; `WideMultiplier` puts several together where an operand is wider than a cell. This is
one of the two places (`mac` is the other) where a target's cells make a difference: ``cells`` chooses them.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal, Value, signed, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .cells.ecp5 import mult18x18d
from .delay import delay
from .hierarchy import place

__all__ = ["LIMB_BITS", "Multiplier", "WideMultiplier"]

LIMB_BITS = 17  # unsigned bits that fit a signed operand of 18 bits, the width of ECP5's cell


class Multiplier(wiring.Component):
    """``product`` shows ``a * b`` of ``latency`` cycles ago. Operands are signed, of up to 18 bits. No reset.

    ``portable`` has a register before and one after the product, which synthesis tools move into a multiplier cell that
    has them. ``ecp5`` is a MULT18X18D with all three of its register stages (nextpnr and Yosys pack none themselves)
    and a register in the fabric, since the way from the cell to a carry chain takes half of a 200 MHz cycle.
    """

    def __init__(self, a_bits: int, b_bits: int, *, cells: str) -> None:
        self.cells = cells
        self.kind = f"multiplier_{a_bits}x{b_bits}"
        super().__init__({"a": In(signed(a_bits)), "b": In(signed(b_bits)), "product": Out(signed(a_bits + b_bits))})

    @staticmethod
    def latency_of(cells: str) -> int:
        return 4 if cells == "ecp5" else 2

    @property
    def latency(self) -> int:
        return self.latency_of(self.cells)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        if self.cells == "ecp5":
            product = Signal.like(self.product, name="cell_product")
            m.submodules.cell = mult18x18d(self.a, self.b, product)
            m.d.comb += self.product.eq(delay(m, product, 1, name="product_register"))
            return m
        a = delay(m, self.a, 1, name="a").as_signed()
        b = delay(m, self.b, 1, name="b").as_signed()
        m.d.comb += self.product.eq(delay(m, a * b, 1, name="product_register"))
        return m


class WideMultiplier(wiring.Component):
    """``product`` shows ``a * b`` of ``latency`` cycles ago, ``a`` signed and ``b`` unsigned, of any width.

    With cells of 18 x 18 bits an operand of more bits (up to 35, or 34 unsigned) is cut into two limbs of which the
    lower has `LIMB_BITS` bits. The outer products stand side by side in the result, so that two limbs each cost two
    additions, each with its own register. Other cells, and wider operands, leave the cutting to synthesis.
    """

    kind = "wide_multiplier"

    def __init__(self, a_bits: int, b_bits: int, *, cells: str) -> None:
        fits = a_bits <= 2 * LIMB_BITS + 1 and b_bits <= 2 * LIMB_BITS
        self.cells = cells if fits else "portable"
        self._cut_a = self.cells == "ecp5" and a_bits > LIMB_BITS + 1
        self._cut_b = self.cells == "ecp5" and b_bits > LIMB_BITS
        super().__init__({"a": In(signed(a_bits)), "b": In(unsigned(b_bits)), "product": Out(signed(a_bits + b_bits))})

    @property
    def latency(self) -> int:
        """The cell, and an addition for each operand that was cut."""
        return Multiplier.latency_of(self.cells) + self._cut_a + self._cut_b

    def elaborate(self, platform: object) -> Module:
        m = Module()
        a_limbs = _limbs(self.a, self._cut_a)
        b_limbs = _limbs(Cat(self.b, 0).as_signed(), self._cut_b)

        def product(i: int, j: int) -> Value:
            multiplier = Multiplier(len(a_limbs[i]), len(b_limbs[j]), cells=self.cells)
            m.submodules[f"multiplier_{i}{j}"] = place(multiplier, platform)
            m.d.comb += [multiplier.a.eq(a_limbs[i]), multiplier.b.eq(b_limbs[j])]
            return multiplier.product

        def add(high: Value, low: Value, name: str) -> Signal:
            total = Signal(signed(max(len(high), len(low)) + 1), name=name, reset_less=True)
            m.d.sync += total.eq(high + low)
            return total

        def held(value: Value, name: str) -> Value:
            return delay(m, value, 1, name=name)

        low = product(0, 0)
        if self._cut_a and self._cut_b:
            middle = add(product(1, 0), product(0, 1), "middle")
            outer = Cat(held(low, "low")[: 2 * LIMB_BITS], held(product(1, 1), "high"))
            upper = add(outer[LIMB_BITS:].as_signed(), middle, "upper")
            m.d.comb += self.product.eq(Cat(held(outer[:LIMB_BITS], "lowest"), upper).as_signed())
        elif self._cut_a or self._cut_b:
            high = product(1, 0) if self._cut_a else product(0, 1)
            upper = add(high, low[LIMB_BITS:].as_signed(), "upper")
            m.d.comb += self.product.eq(Cat(held(low[:LIMB_BITS], "lowest"), upper).as_signed())
        else:
            m.d.comb += self.product.eq(low)
        return m


def _limbs(operand: Value, cut: bool) -> list[Value]:
    """The signed operand, or its lower `LIMB_BITS` bits as a non-negative number and the signed rest."""
    if not cut:
        return [operand]
    return [Cat(operand[:LIMB_BITS], 0).as_signed(), operand[LIMB_BITS:].as_signed()]
