"""Gowin: products in MULT9X9 and MULT18X18, additions and the accumulator's clearing in the carry chains of ALU."""

from __future__ import annotations

from amaranth.hdl import Module, Signal, Value, unsigned

from ..cells.gowin import clearing_adder
from ..delay import delay
from .fabric import FabricForm

__all__ = ["GowinForm"]


class GowinForm(FabricForm):
    """The accumulator is cleared inside its carry chain, and its sum is taken from the register: a cycle more."""

    accumulator_latency = 1
    whole_bits = 32  # a step along the chain takes 35 ps on GW2A, C8/I7, a fourteenth of a lookup table

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
