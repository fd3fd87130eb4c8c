"""UltraScale and UltraScale+: a chain of DSP48E2 multiplies, adds up and accumulates; the fabric does nothing."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Module, Signal, Value

from ..cells.dsp48e2 import P_BITS, dsp48e2
from .form import Form, as_signed

__all__ = ["Dsp48E2Form"]

_CELL = 3  # cycles from operands to P


class Dsp48E2Form(Form):
    """``depth`` cells; each adds its product to the sum of the previous cell, and the last one accumulates.

    UG579 calls it the systolic form of a filter: the sum takes a cycle from cell to cell, and so must the operands.
    """

    skew = 1

    @property
    def latency(self) -> int:
        return _CELL + self.config.depth - 1

    @property
    def clear_delay(self) -> int:
        """The last cell has a register for ``clear``, and adds a cycle later."""
        return self.latency - 2

    def elaborate(self, m: Module, a: Any, b: Any, clear: Value, platform: object) -> Value:
        total = Signal(self.config.accumulator_bits)
        cascade = None
        for i in range(self.config.depth):
            last = i == self.config.depth - 1
            onward = None if last else Signal(P_BITS, name=f"cascade_{i}")
            m.submodules[f"cell_{i}"] = dsp48e2(
                as_signed(a[i]),
                as_signed(b[i]),
                p=total if last else None,
                clear=clear if last else None,
                cascade_in=cascade,
                cascade_out=onward,
            )
            cascade = onward
        return total


FORMS = {"dsp48e2": Dsp48E2Form}
