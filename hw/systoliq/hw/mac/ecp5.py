"""ECP5: products in MULT18X18D, additions and the accumulator's clearing in the lookup tables of CCU2C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Module, Signal, Value, unsigned

from ..cells.ecp5 import adder, clearing_adder
from ..delay import delay
from .fabric import FabricForm

__all__ = ["LARGE", "Ecp5Form"]

LARGE = 64
"""Products of an array with rows, from which on multipliers lie far from the sums of their products."""


class Ecp5Form(FabricForm):
    """The accumulator is cleared inside its carry chain, and its sum is taken from the register: a cycle more.

    A carry from one part to the next has two cycles, because in a large array they lie far apart.
    """

    accumulator_latency = 1
    lag = 2

    @property
    def products_latency(self) -> int:
        """Cycles from operands to their products, one of them for the way of a product across a large array."""
        return super().products_latency + self.far

    @property
    def far(self) -> bool:
        """Whether a product has a register on its way."""
        return self.config.rows > 1 and self.config.macs_per_cycle >= LARGE

    def products(self, m: Module, a: Any, b: Any, platform: object) -> Sequence[Value]:
        """The ``depth`` products, signed and of ``product_bits`` bits."""
        products = super().products(m, a, b, platform)
        return [delay(m, each, self.far, name=f"far_{i}").as_signed() for i, each in enumerate(products)]

    def add(self, m: Module, a: Value, b: Value, name: str) -> Value:
        return adder(m, a, b, name=name)

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
        """(The sum that was stored, the carry out of it)."""
        held = Signal(unsigned(bits), name=f"{name}_held", reset_less=True)
        clear = delay(m, clear, 1, name=f"{name}_clear")
        after = clearing_adder(m, term, held, clear, name=name, carry_in=carry_in, carry_out=carry_out)
        m.d.sync += held.eq(after[:bits])
        return held, delay(m, after[bits:], 1, name=f"{name}_carry")
