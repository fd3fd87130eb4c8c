"""ECP5: two products with a shared operand in each MULT18X18D, for two neighbouring columns of narrow operands.

    a * (second * 2**lane + first) = a * second * 2**lane + a * first

A lane is as wide as a product, so the lower product is read off whole. Where it is negative it has borrowed 1 from the
upper one. That is given back as the carry into the next addition, and costs a register but no lookup table: a tree of
additions and the accumulator behind it have as many carry inputs as there are products.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Const, Module, Signal, Value, signed

from ..cells.ecp5 import adder, mult18x18d
from ..delay import delay
from .ecp5 import Ecp5Form
from .form import as_signed

__all__ = ["Ecp5PairForm", "total_with_carries"]


class Ecp5PairForm(Ecp5Form):
    """A cell for each two products; for each column a tree of additions and an accumulator."""

    columns = 2

    @property
    def products_latency(self) -> int:
        """The latency of one cell plus one, because the first column's operand waits a cycle for the second's."""
        return 1 + super().products_latency

    def elaborate(self, m: Module, a: Any, b: Any, clear: Value, platform: object) -> Value:
        lane, negative = self.product, self.config.a.signed or self.config.b.signed
        words = [self.word(m, a, b, i) for i in range(self.config.depth)]
        sums = []
        for column, name in enumerate(("first", "second")):
            products = [word.word_select(column, lane) for word in words]
            terms = [product.as_signed() if negative else Cat(product, 0).as_signed() for product in products]
            borrows = [word[lane - 1] for word in words] if negative and column else []
            m.submodules[name] = inner = Module()
            total, carry = total_with_carries(inner, terms, borrows, self.config.accumulator_bits)
            sums.append(self._accumulate(inner, total, clear, carry))
        return Cat(sums)

    @property
    def product(self) -> int:
        """Bits of a product, signed or not."""
        return self.config.a.bits + self.config.b.bits

    @property
    def lane(self) -> int:
        """Bits from one product to the other."""
        return self.product

    def word(self, m: Module, a: Any, b: Any, i: int) -> Value:
        """Both products of pair ``i``, added a lane apart."""
        packed = self.packed(delay(m, b[i], 1, name=f"first_{i}"), b[self.config.depth + i])
        factor = as_signed(a[i])
        product = Signal(len(factor) + len(packed), name=f"cell_product_{i}")
        m.submodules[f"cell_{i}"] = mult18x18d(factor, packed, product)
        return delay(m, product[: self.lane + self.product], 1, name=f"product_{i}")

    def packed(self, first: Value, second: Value) -> Value:
        """Two numbers a lane apart, both signed or both not: a negative first one borrows 1."""
        fill = self.lane - len(first)
        if not first.shape().signed:
            return Cat(first, Const(0, fill), second)
        borrow: Value = first[-1]
        digits: list[Value] = []
        for bit in (*second, second[-1]):
            digits.append(bit ^ borrow)
            borrow = borrow & ~bit
        return Cat(first, first[-1].replicate(fill), digits).as_signed()


def total_with_carries(
    m: Module, terms: Sequence[Value], carries: Sequence[Value], most_bits: int
) -> tuple[Value, Value | None]:
    """(The sum of signed terms of one width and of their carries, if there are any, but for one; that one)."""
    level, term_bits = 0, len(terms[0])
    while len(terms) > 1:
        level += 1
        bits = min(term_bits + level, most_bits)
        pairs, last = range(0, len(terms), 2), len(terms) - 1
        totals = [Signal(signed(bits), name=f"sum_{level}_{i // 2}", reset_less=True) for i in pairs]
        for i, total in zip(pairs, totals, strict=True):
            carry = carries[i] if carries else None
            name = f"add_{level}_{i // 2}"
            following = terms[i] if i == last else adder(m, terms[i], terms[i + 1], name=name, carry_in=carry)
            m.d.sync += total.eq(following)
        if carries:
            carries = [delay(m, carries[min(i + 1, last)], 1, name=f"carry_{level}_{i // 2}") for i in pairs]
        terms = totals
    return terms[0], carries[0] if carries else None
