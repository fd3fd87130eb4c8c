"""ECP5: two products of 8 x 8 bits with a shared operand in each MULT18X18D, for two neighbouring columns.

    a * (second * 2**lane + first) = a * second * 2**lane + a * first

Two numbers of 8 bits share a factor of 18 bits, 10 bits apart, and their products overlap by 6: the upper bits of ``a *
first`` are added to the lower bits of ``a * second``. Lookup tables compute these lower bits a second time
(`low_product`); subtracting them leaves the upper bits of ``a * first``. ``a * second`` then follows from two borrows:
one from a negative ``a * first``, one from the subtraction:

    a * second = 2**overlap * (bits above both + borrow) + (low - 2**overlap * borrow of the subtraction)

The parts are not joined per product. One tree adds the upper parts, with the first borrow as a carry-in that costs no
lookup table. Another tree adds the lower parts, with the second borrow as their sign. One addition joins both totals.

A signed ``first`` is raised by half its range, so that it borrows nothing from ``second``; otherwise, both would not
fit at their least values. The total of ``a``, times that half, is subtracted from the first column's. The alternative,
a lane of 9 bits with the borrow of narrow operands, took 15 more lookup tables and 8 fewer registers per pair, with 8
pairs (Yosys 0.70).
"""

from __future__ import annotations

import functools
from typing import Any

from amaranth.hdl import Cat, Const, Module, Signal, Value, signed

from ..adder_tree import adder_tree, adder_tree_latency
from ..cells.ecp5 import WIDTH, adder, subtractor
from ..config import ArrayConfig
from ..delay import delay
from ..low_product import low_product, low_product_latency
from .ecp5_pair import Ecp5PairForm, total_with_carries
from .form import as_signed

__all__ = ["Ecp5OverlapForm", "ecp5_pair_form"]


class Ecp5OverlapForm(Ecp5PairForm):
    """A cell for each two products, and the lower bits of one of them in lookup tables."""

    @property
    def lane(self) -> int:
        """Bits between the two numbers: the largest distance that fits, and less than the width of a product."""
        return min(WIDTH - self.config.b.bits, self.product - 1)

    @property
    def overlap(self) -> int:
        """Bits that both products have in common."""
        return self.product - self.lane

    @property
    def products_latency(self) -> int:
        """The latency of the cells and two more cycles: to separate the products, and to correct and join totals."""
        return 2 + super().products_latency

    def elaborate(self, m: Module, a: Any, b: Any, clear: Value, platform: object) -> Value:
        parts = [self._parts(m, a, b, i) for i in range(self.config.depth)]
        firsts, uppers, lowers, borrows = (list(column) for column in zip(*parts, strict=True))
        m.submodules.first = first = Module()
        m.submodules.second = second = Module()
        totals = (
            (first, self._first_total(first, firsts, a)),
            (second, self._second_total(second, uppers, lowers, borrows)),
        )
        bits = min(self.config.product_bits + adder_tree_latency(self.config.depth), self.config.accumulator_bits)
        sums = []
        for inner, total in totals:
            held = Signal(signed(bits), name="total", reset_less=True)
            inner.d.sync += held.eq(total)
            sums.append(self._accumulate(inner, held, clear))
        return Cat(sums)

    def packed(self, first: Value, second: Value) -> Value:
        """Two numbers a lane apart, the first one raised by half its range if it is signed."""
        if not second.shape().signed:
            return super().packed(first, second)
        return Cat(first[:-1], ~first[-1], Const(0, self.lane - len(first)), second).as_signed()

    def _parts(self, m: Module, a: Any, b: Any, i: int) -> tuple[Value, Value, Value, Value]:
        """Results of pair ``i``: (first product, upper part of the second, lower part of the second, carry to its upper
        part).
        """
        lane, overlap = self.lane, self.overlap
        word = self.word(m, a, b, i)
        low = low_product(m, a[i], b[self.config.depth + i], overlap, name=f"low_{i}")
        waits = super().products_latency - 1 - low_product_latency(overlap)
        low = delay(m, low, waits, name=f"low_{i}_wait")
        above = Cat(word[lane : self.product], 0).as_signed(), Cat(low, 0).as_signed()
        above = delay(m, subtractor(m, *above, name=f"above_{i}", bits=overlap + 1), 1, name=f"above_{i}")
        low = delay(m, low, 1, name=f"low_{i}")
        word = delay(m, Cat(word[:lane], word[self.product :]), 1, name=f"others_{i}")
        first, upper = Cat(word[:lane], above[:overlap]), word[lane:]
        if not self.config.a.signed:
            first = Cat(first, 0)
            upper = upper if self.config.b.signed else Cat(upper, 0)
        return first.as_signed(), upper.as_signed(), Cat(low, above[overlap]).as_signed(), above[overlap - 1]

    def _first_total(self, m: Module, terms: list[Value], a: Any) -> Value:
        """The sum of the first column's products, the total of ``a`` subtracted if they were raised by it."""
        total, _ = total_with_carries(m, terms, [], self.config.accumulator_bits)
        if not self.config.b.signed:
            return total
        operands = [as_signed(a[i]) for i in range(self.config.depth)]
        raised = adder_tree(m, operands, len(operands[0]), name="raised", add=functools.partial(_add, m))
        raised = delay(m, raised, super().products_latency, name="raised").as_signed()
        kept = self.config.b.bits - 1
        upper = subtractor(m, total[kept:].as_signed(), raised, name="lowered", bits=len(total) - kept)
        return Cat(total[:kept], upper).as_signed()

    def _second_total(self, m: Module, uppers: list[Value], lowers: list[Value], borrows: list[Value]) -> Value:
        """The sum of the second column's products; each product has two parts and a carry."""
        bits, overlap = self.config.accumulator_bits, self.overlap
        m.submodules.low = low = Module()
        upper, carry = total_with_carries(m, uppers, borrows if self.config.a.signed else [], bits - overlap)
        lower, _ = total_with_carries(low, lowers, [], bits)
        both = adder(m, upper, lower[overlap:].as_signed(), name="both", carry_in=carry)
        return Cat(lower[:overlap], both).as_signed()


def _add(m: Module, x: Value, y: Value, name: str) -> Value:
    return adder(m, x, y, name=f"raised_{name}")


def ecp5_pair_form(config: ArrayConfig) -> Ecp5PairForm:
    """The form without an overlap, where operands are narrow enough for it."""
    narrow = config.a.bits + 2 * config.b.bits + config.b.signed <= WIDTH
    return Ecp5PairForm(config) if narrow else Ecp5OverlapForm(config)


FORMS = {"ecp5-pair": ecp5_pair_form}
