"""Multipliers: one product a cycle, pipelined as the multiplier cells of the target are.

`Multiplier` is one cell's worth; `WideMultiplier` puts several together where an operand is wider than a cell. This is
one of the two places (`mac` is the other) where a target's cells make a difference: ``cells`` chooses them.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal, Value, signed, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .cells import SETS, gowin
from .cells.ecp5 import mult18x18d
from .cells.ice40 import sb_mac16
from .delay import delay
from .hierarchy import place
from .lut_product import lut_product, lut_product_latency

__all__ = ["LIMB_BITS", "Multiplier", "WideMultiplier", "cell_size"]

LIMB_BITS = {name: cells.limb_bits for name, cells in SETS.items() if cells.limb_bits}
"""Unsigned bits that fit a signed operand of the multiplier, by set of cells."""
_FEW = 4  # bits that are not worth a cell
_SAME = {
    "ecp5-alu": "ecp5",
    "ecp5-pair": "ecp5",
    "ecp5-lut": "ecp5",
}  # sets of cells with the same multiplier
_PIPELINED = {"ecp5": mult18x18d, "gowin": gowin.multiplier}  # three cycles, and one more in the fabric


def cell_size(a_bits: int, b_bits: int, *, cells: str) -> int:
    """Return the number of multipliers of the part that one product of signed operands of up to 18 bits takes: two if
    the part is counted in smaller multipliers (`CellSet.small_bits`) and an operand is wider.
    """
    small = SETS[cells].small_bits
    return 2 if small and max(a_bits, b_bits) > small else 1


class Multiplier(wiring.Component):
    """``product`` shows ``a * b`` of ``latency`` cycles ago. Operands are signed, of up to 18 bits. No reset.

    ``portable`` has a register before and one after the product, which synthesis tools move into a multiplier cell that
    has them. ``ecp5`` is a MULT18X18D with all three of its register stages (nextpnr and Yosys pack none themselves)
    and a register in the fabric, since the path from the cell to a carry chain takes half of a 200 MHz cycle. ``gowin``
    is a MULT9X9 or MULT18X18 with the same registers, and the one in the fabric because nextpnr times no other path.
    ``ice40`` is an SB_MAC16 with the registers of its operands and its product, for operands of up to 16 bits. Where
    ``portable`` is not ``pipelined`` there is only the register after the product.
    """

    def __init__(self, a_bits: int, b_bits: int, *, cells: str, pipelined: bool = True) -> None:
        self._pipelined = pipelined
        self.cells = _SAME.get(cells, cells)
        self.kind = f"multiplier_{a_bits}x{b_bits}"
        super().__init__({"a": In(signed(a_bits)), "b": In(signed(b_bits)), "product": Out(signed(a_bits + b_bits))})

    @staticmethod
    def latency_of(cells: str, *, pipelined: bool = True) -> int:
        """Cycles from the operands to the product."""
        if cells == "portable" and not pipelined:
            return 1
        return 4 if _SAME.get(cells, cells) in _PIPELINED else 2

    @property
    def latency(self) -> int:
        """Cycles from the operands to the product."""
        return self.latency_of(self.cells, pipelined=self._pipelined)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        if self.cells in _PIPELINED:
            product = Signal.like(self.product, name="cell_product")
            m.submodules.cell = _PIPELINED[self.cells](self.a, self.b, product)
            m.d.comb += self.product.eq(delay(m, product, 1, name="product_register"))
            return m
        if self.cells == "ice40" and max(len(self.a), len(self.b)) <= LIMB_BITS["ice40"] + 1:
            m.submodules.cell = sb_mac16(self.a, self.b, self.product)
            return m
        a = delay(m, self.a, self.latency - 1, name="a").as_signed()
        b = delay(m, self.b, self.latency - 1, name="b").as_signed()
        m.d.comb += self.product.eq(delay(m, a * b, 1, name="product_register"))
        return m


class WideMultiplier(wiring.Component):
    """``product`` shows ``a * b`` of ``latency`` cycles ago, ``a`` signed and ``b`` unsigned, of any width.

    With a vendor's cells, an operand that is too wide for one cell, but not for two, is split into two limbs; the lower
    limb has `LIMB_BITS` bits. The outer products do not overlap in the result, so two limbs of each operand cost two
    additions, each with its own register. The rest of ``a`` above two limbs is multiplied in the fabric if it has at
    most `_FEW` bits, and so is all of ``a`` if ``b`` has at most `_FEW` bits. With other cells, and wider operands,
    synthesis splits the multiplication; ``ecp5-lut`` uses no cells (`lut_product`).

    Without ``pipelined``, there is only one register, behind the last addition.
    """

    def __init__(
        self, a_bits: int, b_bits: int, *, cells: str, pipelined: bool = True, kind: str = "wide_multiplier"
    ) -> None:
        self.kind = kind
        self._each = int(pipelined)
        self._in_tables = cells == "ecp5-lut"
        cells = _SAME.get(cells, cells)
        self._limb = limb = LIMB_BITS.get(cells, a_bits + b_bits)
        beyond = a_bits - 2 * limb
        self._few = beyond if 1 < beyond <= _FEW and limb < b_bits <= 2 * limb else 0
        in_cells = 2 * limb + 1 if self._few else a_bits
        self.cells = cells if in_cells <= 2 * limb + 1 and _FEW < b_bits <= 2 * limb else "portable"
        self._cut_a = self.cells in LIMB_BITS and in_cells > limb + 1
        self._cut_b = self.cells in LIMB_BITS and b_bits > limb
        super().__init__({"a": In(signed(a_bits)), "b": In(unsigned(b_bits)), "product": Out(signed(a_bits + b_bits))})

    @property
    def count(self) -> int:
        """Multipliers of the part that it is made of, as `cell_size` counts them; 1 of cells that leave the cutting to
        synthesis.
        """
        if self._in_tables or len(self.b) <= _FEW:
            return 0
        a_bits = 2 * self._limb + 1 if self._few else len(self.a)
        widths = [
            [self._limb + 1, bits - self._limb] if cut else [bits]
            for bits, cut in ((a_bits, self._cut_a), (len(self.b) + 1, self._cut_b))
        ]
        return sum(cell_size(a, b, cells=self.cells) for a in widths[0] for b in widths[1])

    @property
    def latency(self) -> int:
        """The cell, and an addition for each operand that was cut, and for the few bits in the fabric."""
        if self._in_tables:
            return lut_product_latency(len(self.b))
        additions = self._cut_a + self._cut_b + (self._few > 0)
        return Multiplier.latency_of(self.cells) + (additions if self._each else min(additions, 1))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        if self._in_tables:
            m.d.comb += self.product.eq(lut_product(m, self.a, self.b, name="product"))
            return m
        limb = self._limb
        a = self.a
        result: Value = self.product
        if self._few:
            a = Cat(self.a[: 2 * limb], 0).as_signed()
            result = Signal(signed(len(a) + len(self.b)), name="low_product")
            behind = self.latency - 2 if self._each else 0  # else before the product, as in the cells
            few_a = delay(m, self.a[2 * limb :], self.latency - 2 - behind, name="few").as_signed()
            few_b = delay(m, self.b, self.latency - 2 - behind, name="few_factor")
            few = delay(m, few_a * few_b, 1, name="few_product").as_signed()
            few = delay(m, few, behind, name="few_delayed").as_signed()
            upper = Signal(signed(len(self.product) - 2 * limb), name="upper_sum", reset_less=True)
            m.d.sync += upper.eq((result >> (2 * limb)) + few)
            m.d.comb += self.product.eq(Cat(delay(m, result[: 2 * limb], 1, name="lower_product"), upper).as_signed())
        elif not self._each and (self._cut_a or self._cut_b):
            result = Signal.like(self.product, name="sums")
            m.d.comb += self.product.eq(delay(m, result, 1, name="product_register"))
        a_limbs = _limbs(a, limb, self._cut_a)
        b_limbs = _limbs(Cat(self.b, 0).as_signed(), limb, self._cut_b)

        def product(i: int, j: int) -> Value:
            multiplier = Multiplier(len(a_limbs[i]), len(b_limbs[j]), cells=self.cells)
            m.submodules[f"multiplier_{i}{j}"] = place(multiplier, platform)
            m.d.comb += [multiplier.a.eq(a_limbs[i]), multiplier.b.eq(b_limbs[j])]
            return multiplier.product

        def add(high: Value, low: Value, name: str) -> Signal:
            total = Signal(signed(max(len(high), len(low)) + 1), name=name, reset_less=True)
            m.d["sync" if self._each else "comb"] += total.eq(high + low)
            return total

        def held(value: Value, name: str) -> Value:
            return delay(m, value, self._each, name=name)

        low = product(0, 0)
        if self._cut_a and self._cut_b:
            middle = add(product(1, 0), product(0, 1), "middle")
            outer = Cat(held(low, "low")[: 2 * limb], held(product(1, 1), "high"))
            upper = add(outer[limb:].as_signed(), middle, "upper")
            m.d.comb += result.eq(Cat(held(outer[:limb], "lowest"), upper).as_signed())
        elif self._cut_a or self._cut_b:
            high = product(1, 0) if self._cut_a else product(0, 1)
            upper = add(high, low[limb:].as_signed(), "upper")
            m.d.comb += result.eq(Cat(held(low[:limb], "lowest"), upper).as_signed())
        else:
            m.d.comb += result.eq(low)
        return m


def _limbs(operand: Value, limb: int, cut: bool) -> list[Value]:
    """The signed operand, or its lower ``limb`` bits as a non-negative number and the signed rest."""
    if not cut:
        return [operand]
    return [Cat(operand[:limb], 0).as_signed(), operand[limb:].as_signed()]
