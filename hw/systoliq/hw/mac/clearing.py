"""Carry chains that clear: the accumulator of families whose cells choose inside the carry chain."""

from __future__ import annotations

from typing import ClassVar, Protocol

from amaranth.hdl import Module, Signal, Value, unsigned

from ..delay import delay
from .fabric import FabricForm

__all__ = ["ClearingForm"]


class ClearingAdder(Protocol):
    """``term + (0 if clear else held) + carry_in``, as wide as ``held`` and one bit more with ``carry_out``."""

    def __call__(
        self, m: Module, term: Value, held: Value, clear: Value, *, name: str, carry_in: Value | None, carry_out: bool
    ) -> Value: ...


class ClearingForm(FabricForm):
    """The accumulator is cleared inside its carry chain, and its sum is taken from the register: a cycle more."""

    accumulator_latency = 1
    clearing_adder: ClassVar[ClearingAdder]

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
        after = self.clearing_adder(m, term, held, clear, name=name, carry_in=carry_in, carry_out=carry_out)
        m.d.sync += held.eq(after[:bits])
        return held, delay(m, after[bits:], 1, name=f"{name}_carry")
