"""The portable form: products, a tree of additions, and an accumulator in the carry chains of the fabric."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value, unsigned

from ..adder_tree import adder_tree, adder_tree_latency
from ..delay import delay
from ..hierarchy import place
from ..multiplier import Multiplier
from .form import Form
from .parts import Part, cuts, extended, skewed

__all__ = ["WHOLE_BITS", "FabricForm"]

_PART_NAMES = {1: ["sum"], 2: ["low", "high"]}
WHOLE_BITS = 24  # a carry chain as long as this still meets 200 MHz on ECP5 (speed 6); longer accumulators are split


class FabricForm(Form):
    """``depth`` multipliers, a register after each level of additions, and an accumulator.

    There is no multiplexer before the accumulator's adder: the accumulator is cleared *after* an addition, by the
    synchronous reset of its registers. An accumulator of more than `whole_bits` bits is split: each part adds the carry
    of the lower part a cycle later. Forms for vendors' cells replace the parts that their cells do better.
    """

    accumulator_latency = 0
    """Cycles from the accumulator's total to a sum that includes it."""
    whole_bits = WHOLE_BITS
    """Bits of an accumulator that is not split."""
    lag = 1
    """Cycles from one part of a split accumulator to the next: the time that a carry has."""

    @property
    def products_latency(self) -> int:
        """Cycles from operands to their products."""
        return Multiplier.latency_of(self.config.cells)

    @property
    def _total_delay(self) -> int:
        return self.products_latency + adder_tree_latency(self.config.depth)

    @property
    def latency(self) -> int:
        """The total of the products, and the accumulator."""
        return self._total_delay + self.accumulator_latency

    @property
    def parts(self) -> list[Part]:
        """The parts of the accumulator; flags belong to the last one."""
        ends = cuts(self.config.accumulator_bits, self.whole_bits)
        ends[-1] = self.config.word_bits
        return [Part(start, end, i * self.lag) for i, (start, end) in enumerate(itertools.pairwise(ends))]

    @property
    def clear_delay(self) -> int:
        """A cycle before the total of the first products is added."""
        return self._total_delay - 1

    def elaborate(self, m: Module, a: Any, b: Any, clear: Value, platform: object) -> Value:
        config = self.config
        terms = self.products(m, a, b, platform)
        add = functools.partial(self.add, m)
        total = adder_tree(m, terms, config.product_bits, most_bits=config.accumulator_bits, add=add)
        return self._accumulate(m, total, clear)

    def products(self, m: Module, a: Any, b: Any, platform: object) -> Sequence[Value]:
        """The ``depth`` products, signed and of ``product_bits`` bits."""
        config = self.config
        terms: list[Value] = []
        a_bits, b_bits = (operand.bits + (not operand.signed) for operand in (config.a, config.b))
        for i in range(config.depth):
            multiplier = Multiplier(a_bits, b_bits, cells=config.cells)
            m.submodules[f"multiplier_{i}"] = place(multiplier, platform)
            m.d.comb += [multiplier.a.eq(a[i]), multiplier.b.eq(b[i])]
            terms.append(multiplier.product[: config.product_bits].as_signed())
        return terms

    def add(self, m: Module, a: Value, b: Value, name: str) -> Value:
        """The sum of two terms of the tree; signals that are added to ``m`` are named after ``name``."""
        return a + b

    def _accumulate(self, m: Module, total: Value, clear: Value, carry_in: Value | None = None) -> Value:
        at = cuts(self.config.accumulator_bits, self.whole_bits)
        return self._accumulate_parts(m, skewed(m, total, at, lag=self.lag, name="upper"), clear, carry_in)

    def _accumulate_parts(
        self, m: Module, total: Sequence[Value], clear: Value, carry_in: Value | None = None
    ) -> Value:
        """Accumulate ``total``, whose part i comes ``i * lag`` cycles after part 0; the sum comes in the same parts."""
        at = cuts(self.config.accumulator_bits, self.whole_bits)
        names = _PART_NAMES.get(len(total)) or [f"part_{i}" for i in range(len(total))]
        carry = carry_in
        sums = []
        for i, (part, name) in enumerate(zip(total, names, strict=True)):
            bits, is_last = at[i + 1] - at[i], part is total[-1]
            part_sum, carry = self.accumulator(
                m, extended(part, bits), clear, bits, name=name, carry_in=carry, carry_out=not is_last
            )
            sums.append(part_sum)
            if not is_last:
                clear = delay(m, clear, self.lag, name="clear" if i == 0 else f"clear_{i + 1}")
                carry = delay(m, carry, self.lag - 1, name=f"{name}_carry_on")
        return Cat(sums)

    def accumulator(
        self,
        m: Module,
        term: Value,
        clear: Value,
        bits: int,
        *,
        name: str,
        carry_in: Value | None = None,
        carry_out: bool = True,
    ) -> tuple[Value, Value]:
        """(The sum that is about to be stored, the carry out of the one before)."""
        held = Signal(unsigned(bits), name=f"{name}_held", reset_less=True)
        after = Signal(unsigned(bits + carry_out), name=f"{name}_after")
        m.d.comb += after.eq(held + term + (0 if carry_in is None else carry_in))
        m.d.sync += held.eq(Mux(clear, 0, after))
        return after[:bits], delay(m, after[bits:], 1, name=f"{name}_carry")
