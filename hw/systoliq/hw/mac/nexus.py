"""Lattice Nexus: four products of 9 x 9 bits and their accumulated sum in one cell, MULTADDSUB9X9WIDE; the fabric adds
up more.

The cell is instantiated by name: Yosys 0.70 infers it without its registers or its accumulator. Yosys puts products
without a sum into MULT9X9 and MULT18X18. Sources: Lattice FPGA-TN-02096 (sysDSP), and Yosys' simulation model, by which
the vendor's diagram of the adders is wrong: all three terms are added at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, ClockSignal, Const, Instance, Module, Signal, Value, signed

from ..adder_tree import adder_tree, adder_tree_latency
from ..config import ArrayConfig
from .fabric import FabricForm
from .form import Form, as_signed

__all__ = ["PRODUCTS", "SUM_BITS", "WIDTH", "NexusForm", "multaddsub9x9wide", "nexus_form", "nexus_multipliers"]

PRODUCTS = 4  # of a cell
WIDTH = 9  # of an operand, signed
SUM_BITS = 54  # of the accumulator

_ENABLES = ("A0A1", "A2A3", "B0B1", "B2B3", "C", "CTRL", "PIPE", "OUT")
_REGISTERS = (*(f"INPUTAB{i}" for i in range(PRODUCTS)), "INPUTC", "ADDSUB", "LOADC", "LOADC2", "PIPELINE", "OUTPUT")

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


def multaddsub9x9wide(a: Sequence[Value], b: Sequence[Value], clear: Value, total: Value) -> Instance:
    """``total`` is the sum of up to four signed products ``a[i] * b[i]`` of three cycles ago, and the ``total`` of one
    cycle ago, or 0 if ``clear`` was 1 three cycles ago. No reset.

    Registers are on: operands, products, the sum, and two of ``clear``, which loads C, here 0, in place of the sum.
    """
    if not len(a) == len(b) <= PRODUCTS or max(map(len, (*a, *b))) > WIDTH:
        raise ValueError(f"operands must be up to {PRODUCTS} pairs of at most {WIDTH} bits")
    operands = {f"i_A{i}": _extended(a[i : i + 1]) for i in range(PRODUCTS)}
    operands |= {f"i_B{i}": _extended(b[i : i + 1]) for i in range(PRODUCTS)}
    return Instance(
        "MULTADDSUB9X9WIDE",
        **{f"p_REG{name}": "REGISTER" for name in _REGISTERS},
        p_GSR="DISABLED",
        p_RESETMODE="SYNC",
        **operands,
        **{f"i_CE{name}": 1 for name in _ENABLES},
        **{f"i_RST{name}": 0 for name in _ENABLES},
        i_CLK=ClockSignal(),
        i_C=Const(0, SUM_BITS),
        i_SIGNED=1,
        i_LOADC=clear,
        i_ADDSUB=Const(0, PRODUCTS),
        o_Z=Cat(total, Signal(SUM_BITS - len(total), name="rest")),
    )


def _extended(operand: Sequence[Value]) -> Value:
    """Return the operand with copies of its sign above it, or 0 without an operand."""
    if not operand:
        return Const(0, WIDTH)
    value = operand[0]
    return Cat(value, value[-1].replicate(WIDTH - len(value)))


FORMS = {"nexus": nexus_form}
MULTIPLIERS = {"nexus": nexus_multipliers}
