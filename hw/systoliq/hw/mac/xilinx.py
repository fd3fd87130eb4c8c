"""Xilinx by inference: plain logic in the shape of a DSP48's multiply-accumulate, which Vivado and Yosys pack into one.

Sources: AMD UG479 and UG579, multiply-accumulate; Yosys' pattern, passes/pmgen/xilinx_dsp.pmg. Yosys 0.70 packs it for
the 7 series only: see `dsp48e2` for UltraScale+.
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Module, Mux, Signal, Value, signed

from ..delay import delay
from .fabric import FabricForm

__all__ = ["XilinxForm"]


class XilinxForm(FabricForm):
    """With depth 1 the accumulator is the DSP's: whole, cleared before the addition, its sum read from the register.

    All in one module: Yosys packs each by itself where it is not told to flatten them. A DSP48E1 adds one number to its
    own product: with more products than one the accumulator is the fabric's, as is the tree.
    """

    @property
    def _inside(self) -> bool:
        return self.config.depth == 1

    @property
    def latency(self) -> int:
        """Registers of the operands, the product and the sum."""
        return 3 if self._inside else super().latency

    @property
    def clear_delay(self) -> int:
        return 2 if self._inside else super().clear_delay

    def elaborate(self, m: Module, a: Any, b: Any, clear: Value, platform: object) -> Value:
        if not self._inside:
            return super().elaborate(m, a, b, clear, platform)
        left, right = delay(m, a[0], 1, name="a_operand"), delay(m, b[0], 1, name="b_operand")
        product = delay(m, left * right, 1, name="product")
        held = Signal(signed(self.config.accumulator_bits), reset_less=True)
        m.d.sync += held.eq(Mux(clear, 0, held) + product)
        return held
