"""iCE40 UltraPlus: products in SB_MAC16, two to a cell where they are small; one product's accumulator in there too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Shape, Signal, Value

from ..cells.ice40 import sb_mac16, sb_mac16_accumulator, sb_mac16_pair
from ..config import ArrayConfig
from .fabric import FabricForm
from .form import Form

__all__ = ["Ice40AccumulatorForm", "Ice40Form", "ice40_form", "ice40_multipliers"]

_PAIR_BITS = 8  # of an operand of one of two products in a cell
_SUM_BITS = 32  # of the cell's adder


def ice40_form(config: ArrayConfig) -> Form:
    """The smallest form for ``config``."""
    if config.depth == 1 and config.accumulator_bits <= _SUM_BITS:
        return Ice40AccumulatorForm(config)
    return Ice40Form(config)


def ice40_multipliers(depth: int) -> int:
    """Return the cells that ``depth`` products of operands of up to 8 bits take, two to a cell."""
    return -(-depth // 2)


class Ice40AccumulatorForm(Form):
    """One product and its sum in one cell. A lookup table for each bit leads the sum back, or nothing.

    The cell cannot begin a sum on its own (see `sb_mac16_accumulator`).
    """

    latency = 3
    clear_delay = 2

    def elaborate(self, m: Module, a: Any, b: Any, clear: Value, platform: object) -> Value:
        total = Signal(self.config.accumulator_bits)
        m.submodules.cell = sb_mac16_accumulator(a[0], b[0], Mux(clear, 0, total), total)
        return total


class Ice40Form(FabricForm):
    """Products of operands of up to 8 bits go two to a cell, others one; the fabric adds them up."""

    products_latency = 2
    whole_bits = 32  # of clocks of less than 50 MHz a carry chain takes a small part

    def products(self, m: Module, a: Any, b: Any, platform: object) -> Sequence[Value]:
        """Products of the pairs, as the cells give them."""
        config = self.config
        paired = max(config.a.bits, config.b.bits) <= _PAIR_BITS
        shape = Shape(_SUM_BITS // (1 + paired), config.a.signed or config.b.signed)
        products = [Signal(shape, name=f"product_{i}") for i in range(config.depth)]
        for i in range(0, config.depth, 1 + paired):
            if i + 1 < config.depth and paired:
                cell = sb_mac16_pair((a[i], a[i + 1]), (b[i], b[i + 1]), products[i : i + 2])
            else:
                cell = sb_mac16(a[i], b[i], products[i])
            m.submodules[f"cell_{i}"] = cell
        # The product of unsigned operands has one bit less than ``product_bits``.
        return [Cat(product, 0)[: config.product_bits].as_signed() for product in products]


FORMS = {"ice40": ice40_form}
MULTIPLIERS = {"ice40": ice40_multipliers}
