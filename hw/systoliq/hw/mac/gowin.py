"""Gowin: products in MULT9X9 and MULT18X18, additions and the accumulator's clearing in the carry chains of ALU."""

from __future__ import annotations

from ..cells.gowin import clearing_adder
from .clearing import ClearingForm

__all__ = ["GowinForm"]


class GowinForm(ClearingForm):
    """The accumulator is cleared inside its carry chain, and its sum is taken from the register: a cycle more."""

    clearing_adder = staticmethod(clearing_adder)
    whole_bits = 32  # a step along the chain takes 35 ps on GW2A, C8/I7, a fourteenth of a lookup table


FORMS = {"gowin": GowinForm}
