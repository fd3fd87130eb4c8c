"""UltraScale and UltraScale+: two products with a shared operand in each DSP48E2, for two neighbouring columns.

    a * (second * 2**field + first) = a * second * 2**field + a * first

The pre-adder puts the two columns' operands side by side. Cells in a chain add up such words as long as the lower sum
cannot leave its field. The first cell adds a bias that keeps the lower sum from being negative: nothing is borrowed
from the upper one, and taking the bias out again inverts a bit. Operands of up to 8 bits. AMD WP486 (deep learning with
INT8) describes the packing, with a correction where we have the bias; UG579 the cell and its constant RND.
"""

from __future__ import annotations

import functools
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed

from ..adder_tree import adder_tree, adder_tree_latency
from ..cells.dsp48e2 import A_BITS, P_BITS, dsp48e2
from ..config import ArrayConfig
from ..delay import delay
from .form import Form, as_signed

__all__ = ["Dsp48E2PairForm"]

_CELL = 5  # cycles from the first column's operand to P


class Dsp48E2PairForm(Form):
    """Chains of cells, the split of each chain's word, a tree over the chains, and an accumulator for each column."""

    skew = 1
    columns = 2

    def __init__(self, config: ArrayConfig) -> None:
        super().__init__(config)
        a, b = config.a, config.b
        products = [left * right for left in (a.min, a.max) for right in (b.min, b.max)]
        low, high = min(products), max(products)
        half = 1 << (A_BITS - 1)
        self._field = max(s for s in range(A_BITS) if (b.max << s) + b.max < half and (b.min << s) + b.min >= -half)
        half = 1 << (self._field - 1)
        # A bias of a half flips the highest bit; one less takes a 1 more to undo, which a carry does.
        biases = ((0, 0), (half, 0), (half - 1, 1))

        def fits(cells: int, bias: int) -> bool:
            return cells * low + bias >= 0 and cells * high + bias < 2 * half

        longest = max(cells for cells in range(1, config.depth + 1) if any(fits(cells, bias) for bias, _ in biases))
        self._chain = -(-config.depth // -(-config.depth // longest))
        self._bias, self._carry = next(option for option in biases if fits(self._chain, option[0]))

    @property
    def _chains(self) -> int:
        return -(-self.config.depth // self._chain)

    @property
    def latency(self) -> int:
        """Cell, chain, tree and accumulator. Chains whose operands come early wait for the last one."""
        return _CELL + self.config.depth - 1 + adder_tree_latency(self._chains) + 1

    @property
    def clear_delay(self) -> int:
        return self.latency - 1

    def elaborate(self, m: Module, a: Any, b: Any, clear: Value, platform: object) -> Value:
        bits, field = self.config.accumulator_bits, self._field
        words = [self._word(m, a, b, first) for first in range(0, self.config.depth, self._chain)]
        lower = [Cat(word[: field - 1], self._top_bit(word[field - 1])).as_signed() for word in words]
        upper_bits = self.config.product_bits + (self._chain - 1).bit_length()
        upper = [word[field : field + upper_bits].as_signed() for word in words]
        sums = []
        for name, terms, carry in (("first", lower, self._carry), ("second", upper, 0)):
            add = functools.partial(_add_with, carry)
            total = adder_tree(m, terms, len(terms[0]), most_bits=bits, name=name, add=add)
            held = Signal(signed(bits), name=f"{name}_held", reset_less=True)
            m.d.sync += held.eq(Mux(clear, 0, held) + total + carry)
            sums.append(held)
        return Cat(sums)

    def _top_bit(self, bit: Value) -> Value:
        """The lower sum from its field's top bit on: the bias inverted that, or there is none and it is positive."""
        return ~bit if self._bias else Cat(bit, 0)

    def _word(self, m: Module, a: Any, b: Any, first: int) -> Value:
        """The packed sum of the chain that begins with ``first``, in the cycle of the last chain's."""
        depth = self.config.depth
        end = min(first + self._chain, depth)
        word = Signal(P_BITS, name=f"word_{first}")
        cascade = None
        for i in range(first, end):
            last = i == end - 1
            onward = None if last else Signal(P_BITS, name=f"cascade_{i}")
            m.submodules[f"cell_{i}"] = dsp48e2(
                as_signed(b[i]),
                as_signed(a[i]),
                d=Cat(Const(0, self._field), as_signed(b[depth + i])),
                constant=self._bias if i == first else 0,
                p=word if last else None,
                cascade_in=cascade,
                cascade_out=onward,
            )
            cascade = onward
        return delay(m, word, depth - end, name=f"word_{first}")


def _add_with(carry: int, x: Value, y: Value, name: str) -> Value:
    return x + y + carry


FORMS = {"dsp48e2-pair": Dsp48E2PairForm}
