"""Xilinx by inference: plain logic in the shape of a DSP48's multiply-accumulate, which Vivado and Yosys pack into one.

Sources: AMD UG479 and UG579, multiply-accumulate and systolic filter; Yosys' pattern, passes/pmgen/xilinx_dsp.pmg.
Yosys 0.70 packs it for the 7 series only: see `dsp48e2` for UltraScale+.
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Module, Mux, Signal, Value, signed

from ..delay import delay
from .form import Form

__all__ = ["XilinxForm"]


class XilinxForm(Form):
    """A chain of cells, each of which adds its product to the sum of the previous one, and an accumulator.

    With depth 1, the accumulator is inside the cell. A DSP48E1 adds one number to its product, so a sum of several
    products has its accumulator in the fabric. All logic is in one module, because Yosys packs module by module unless
    it flattens the design.
    """

    skew = 1

    @property
    def latency(self) -> int:
        """Registers of the operands, the product and the sum, a cycle for each further cell, the accumulator."""
        return 3 + self.config.depth - 1 + (self.config.depth > 1)

    @property
    def clear_delay(self) -> int:
        return self.latency - 1

    def elaborate(self, m: Module, a: Any, b: Any, clear: Value, platform: object) -> Value:
        config = self.config
        products = []
        for i in range(config.depth):
            left, right = delay(m, a[i], 1, name=f"a_operand_{i}"), delay(m, b[i], 1, name=f"b_operand_{i}")
            products.append(delay(m, left * right, 1, name=f"product_{i}"))
        term = products[0]
        if config.depth > 1:
            term = delay(m, term, 1, name="chain_0")
        for i, product in enumerate(products[1:], 1):
            bits = min(config.product_bits + i.bit_length(), config.accumulator_bits)
            total = Signal(signed(bits), name=f"chain_{i}", reset_less=True)
            m.d.sync += total.eq(term + product)
            term = total
        held = Signal(signed(config.accumulator_bits), reset_less=True)
        m.d.sync += held.eq(Mux(clear, 0, held) + term)
        return held


FORMS = {"xilinx": XilinxForm}
