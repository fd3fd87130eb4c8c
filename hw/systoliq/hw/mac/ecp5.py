"""ECP5: products in MULT18X18D, additions and the accumulator's clearing in the lookup tables of CCU2C."""

from __future__ import annotations

from amaranth.hdl import Module, Value

from ..cells.ecp5 import adder, clearing_adder
from .clearing import ClearingForm

__all__ = ["Ecp5Form"]


class Ecp5Form(ClearingForm):
    """The accumulator is cleared inside its carry chain, and its sum is taken from the register: a cycle more.

    A carry from one part to the next has two cycles, because in a large array they lie far apart.
    """

    clearing_adder = staticmethod(clearing_adder)
    lag = 2

    def add(self, m: Module, a: Value, b: Value, name: str) -> Value:
        return adder(m, a, b, name=name)


FORMS = {"ecp5": Ecp5Form}
