"""Lattice Nexus: four products of 9 x 9 bits and their accumulated sum in one cell, MULTADDSUB9X9WIDE.

Wired up by name: Yosys 0.70 infers the cell without its registers or its accumulator. Products alone are left to Yosys,
which puts them into MULT9X9 and MULT18X18. Sources: Lattice FPGA-TN-02096 (sysDSP), and Yosys' simulation model, by
whose words the vendor's diagram of the adders is wrong: all three terms are added at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Cat, ClockSignal, Const, Instance, Signal, Value

__all__ = ["PRODUCTS", "SUM_BITS", "WIDTH", "multaddsub9x9wide"]

PRODUCTS = 4  # of a cell
WIDTH = 9  # of an operand, signed
SUM_BITS = 54  # of the accumulator

_ENABLES = ("A0A1", "A2A3", "B0B1", "B2B3", "C", "CTRL", "PIPE", "OUT")
_REGISTERS = (*(f"INPUTAB{i}" for i in range(PRODUCTS)), "INPUTC", "ADDSUB", "LOADC", "LOADC2", "PIPELINE", "OUTPUT")


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
