"""ECP5: products in MULT18X18D, additions and the accumulator's clearing in the lookup tables of CCU2C."""

from __future__ import annotations

from amaranth.hdl import Module, Signal, Value, unsigned

from ..cells.ecp5 import adder, clearing_adder
from ..delay import delay
from .fabric import FabricForm

__all__ = ["Ecp5Form"]


class Ecp5Form(FabricForm):
    """The accumulator is cleared inside its carry chain, and its sum is taken from the register: a cycle more.

    A carry from one part to the next has two cycles, because in a large array they lie far apart.
    """

    accumulator_latency = 1
    lag = 2

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
