"""Gowin GW1N and GW2A: multipliers of 9 x 9 and 18 x 18 bits with their registers, and an adder that clears.

Sources: Gowin UG287 (DSP) for MULT9X9 and MULT18X18, UG288 (CFU) and Yosys' simulation model for ALU, a bit of a carry
chain. In its mode MULT an ALU adds ``I3`` and ``I0 & I1``, so the chain itself can clear one addend. nextpnr ties the
input I2 to 1 in every mode; according to apycula's table of modes, the sum is right in this mode too.

Wired up by name: Yosys 0.70 infers multipliers without a register.
"""

from __future__ import annotations

from amaranth.hdl import Cat, ClockSignal, Const, Instance, Module, Signal, Value

__all__ = ["WIDTH", "clearing_adder", "multiplier"]

WIDTH = 18  # of the larger multiplier's operand
_SMALL = 9  # of the smaller one's
_REGISTERS = ("AREG", "BREG", "PIPE_REG", "OUT_REG")
_ADD_PRODUCT = 9  # the mode MULT


def multiplier(a: Value, b: Value, product: Value) -> Instance:
    """``product = a * b`` of three cycles ago, signed: registers of operands, pipeline and output on, never reset.

    Returns the smaller cell if both operands fit; two of them take the place of one larger cell.
    """
    width = _SMALL if max(len(a), len(b)) <= _SMALL else WIDTH
    if len(a) > width or len(b) > width:
        raise ValueError(f"operands must have at most {WIDTH} bits, not {len(a)} and {len(b)}")
    below = 2 * width - len(a) - len(b)
    rest = Signal(below, name="below_product")
    return Instance(
        f"MULT{width}X{width}",
        **{f"p_{name}": Const(1, 1) for name in _REGISTERS},
        p_MULT_RESET_MODE="SYNC",
        i_CLK=ClockSignal(),
        i_CE=1,
        i_RESET=0,
        i_A=_at_top(a, width),
        i_B=_at_top(b, width),
        i_ASIGN=1,
        i_BSIGN=1,
        i_SIA=Const(0, width),
        i_SIB=Const(0, width),
        i_ASEL=0,
        i_BSEL=0,
        o_DOUT=Cat(rest, product) if below else product,
    )


def _at_top(operand: Value, width: int) -> Value:
    """Zeros below an operand cost no wires, copies of its sign above it do."""
    return Cat(Const(0, width - len(operand)), operand)


def clearing_adder(
    m: Module, term: Value, held: Value, clear: Value, *, name: str, carry_in: Value | None, carry_out: bool
) -> Value:
    """``term + (0 if clear else held) + carry_in``, as wide as ``held`` and one bit more with ``carry_out``.

    Costs an ALU a bit: the choice is made inside the carry chain, where Yosys would put a lookup table before it.
    """
    total = Signal(len(held), name=f"{name}_total")
    carry: Value = Const(0, 1) if carry_in is None else carry_in
    for i in range(len(held)):
        following = Signal(name=f"{name}_carry_{i + 1}")
        m.submodules[f"{name}_bit_{i}"] = Instance(
            "ALU",
            p_ALU_MODE=_ADD_PRODUCT,
            i_I0=held[i],
            i_I1=~clear,
            i_I3=term[min(i, len(term) - 1)],
            i_CIN=carry,
            o_SUM=total[i],
            o_COUT=following,
        )
        carry = following
    return Cat(total, carry) if carry_out else total
