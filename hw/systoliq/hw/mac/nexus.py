"""Lattice Nexus: four products and their accumulator in each MULTADDSUB9X9WIDE; the fabric adds up more."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Module, Signal, Value, signed

from ..adder_tree import adder_tree, adder_tree_latency
from ..cells.nexus import PRODUCTS, SUM_BITS, WIDTH, multaddsub9x9wide
from ..config import ArrayConfig
from .fabric import FabricForm
from .form import Form, as_signed

__all__ = ["NexusForm", "nexus_form", "nexus_multipliers"]

_FEW = 2  # products that are not worth a cell for four


def nexus_multipliers(depth: int) -> int:
    """Return the multipliers of 9 x 9 bits that ``depth`` products of so few bits take."""
    return depth if depth <= _FEW else -(-depth // PRODUCTS) * PRODUCTS


def nexus_form(config: ArrayConfig) -> Form:
    """The form with the fewest multipliers for ``config``: Yosys puts single products into cells of their own."""
    widest = max(operand.bits + (not operand.signed) for operand in (config.a, config.b))
    if config.depth <= _FEW or widest > WIDTH or config.accumulator_bits > SUM_BITS:
        return FabricForm(config)
    return NexusForm(config)


class NexusForm(Form):
    """A cell for every four products, each with a sum of its own; the sums are added up behind the cells."""

    clear_delay = 0

    @property
    def latency(self) -> int:
        """The cell, and a register after each level of additions."""
        return 3 + adder_tree_latency(-(-self.config.depth // PRODUCTS))

    def elaborate(self, m: Module, a: Any, b: Any, clear: Value, platform: object) -> Value:
        bits, depth = self.config.accumulator_bits, self.config.depth
        sums: list[Value] = []
        for begin in range(0, depth, PRODUCTS):
            total = Signal(signed(bits), name=f"sum_{begin}")
            own = range(begin, min(begin + PRODUCTS, depth))
            own_a, own_b = ([as_signed(each[i]) for i in own] for each in (a, b))
            m.submodules[f"cell_{begin}"] = multaddsub9x9wide(own_a, own_b, clear, total)
            sums.append(total)
        return adder_tree(m, sums, bits, most_bits=bits)
