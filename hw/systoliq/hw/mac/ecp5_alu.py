"""ECP5, with the adders next to the multipliers: no lookup table per product, and no known maximum frequency.

nextpnr has no timing of these adders: it neither optimizes the paths to and from them nor reports them. Those paths
begin and end in registers, with nothing but wires between. See `docs/silicon.md`.
"""

from __future__ import annotations

import functools
from typing import Any

from amaranth.hdl import Module, Signal, Value, signed

from ..adder_tree import adder_tree, adder_tree_latency
from ..cells.ecp5_alu import alu54b
from ..delay import delay
from .ecp5 import Ecp5Form
from .form import as_signed
from .parts import Part

__all__ = ["AluForm"]

_LATENCY = 3  # of an adder: the registers of operands, of products, of sums


class AluForm(Ecp5Form):
    """One or two products: the adder is the accumulator too. More: the adders add pairs, and the rest is `Ecp5Form`.

    An odd product out takes an adder and two multipliers for itself.
    """

    @property
    def _accumulates(self) -> bool:
        return self.config.depth <= 2

    @property
    def _pairs(self) -> int:
        return -(-self.config.depth // 2)

    @property
    def _total_delay(self) -> int:
        """One more cycle in the fabric, because the path from an adder to a carry chain is not timed."""
        return _LATENCY + 1 + adder_tree_latency(self._pairs)

    @property
    def latency(self) -> int:
        return _LATENCY if self._accumulates else super().latency

    @property
    def parts(self) -> list[Part]:
        return [Part(0, self.config.word_bits, 0)] if self._accumulates else super().parts

    @property
    def clear_delay(self) -> int:
        return 0 if self._accumulates else super().clear_delay

    def elaborate(self, m: Module, a: Any, b: Any, clear: Value, platform: object) -> Value:
        config = self.config
        if self._accumulates:
            keep = Signal(reset_less=True)
            m.d.sync += keep.eq(~clear)
            return self._sum(m, a, b, 0, config.accumulator_bits, keep)
        bits = min(config.product_bits + 1, config.accumulator_bits)
        terms = [
            delay(m, self._sum(m, a, b, pair, bits), 1, name=f"pair_{pair}").as_signed() for pair in range(self._pairs)
        ]
        total = adder_tree(m, terms, bits, most_bits=config.accumulator_bits, add=functools.partial(self.add, m))
        return self._accumulate(m, total, clear)

    def _sum(self, m: Module, a: Any, b: Any, pair: int, bits: int, keep: Value | None = None) -> Signal:
        """The sum of products ``2 * pair`` and ``2 * pair + 1``, of ``bits`` bits, by its own adder."""
        total = Signal(signed(bits), name=f"adder_sum_{pair}")
        members = range(2 * pair, min(2 * pair + 2, self.config.depth))
        first, second = ([as_signed(side[i]) for i in members] for side in (a, b))
        for name, instance in alu54b(first, second, total, keep=keep).items():
            m.submodules[f"{name}_of_{pair}"] = instance
        return total


FORMS = {"ecp5-alu": AluForm}
