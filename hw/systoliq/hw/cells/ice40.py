"""iCE40 UltraPlus: SB_MAC16 in three modes. Source: Lattice FPGA-TN-02007, DSP function usage guide.

Its two operands A and B have registers; so have its products, four of 8 x 8 or their sum of 16 x 16, and its adder of
twice 16 bits. Operands are signed or unsigned as their shapes say, A and B each for itself.

Wired up by name: the netlist that `synth_ice40 -dsp` of Yosys 0.70 made of the portable form failed its simulation.

Outputs come from registers in every mode: nextpnr-ice40 times each pin as if it were registered in every mode, with 0.1
ns of setup and 0.1 ns to the output (its arch.cc). It does not model the path of C and D through the adders, up to 3.8
ns to the output (IceStorm's timings_up5k.txt).
"""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Cat, ClockSignal, Const, Instance, Shape, Signal, Value

__all__ = ["sb_mac16", "sb_mac16_accumulator", "sb_mac16_pair"]

_WIDTH = 16
_ZEROS = (
    *(f"{name}{half}" for name in ("ADDSUB", "OHOLD", "OLOAD", "IRST", "ORST") for half in ("TOP", "BOT")),
    *("AHOLD", "BHOLD", "CHOLD", "DHOLD", "CI", "ACCUMCI", "SIGNEXTIN"),
)


def sb_mac16(a: Value, b: Value, product: Value) -> Instance:
    """``product = a * b`` of two cycles ago: the operands and the whole product are registered."""
    parameters = {"PIPELINE_16x16_MULT_REG2": Const(1, 1), **_both_halves(OUTPUT_SELECT=3)}
    return _instance([a], [b], product, parameters)


def sb_mac16_pair(a: Sequence[Value], b: Sequence[Value], products: Sequence[Value]) -> Instance:
    """Two products of operands of up to 8 bits, of two cycles ago: the operands and the products are registered.

    Both of ``a`` have the same shape, both of ``b``, and both products 16 bits. The configuration is one of those that
    the vendor lists, with the register of the other two 8 x 8 products, which stands still in this mode.
    """
    registers = ("TOP_8x8_MULT_REG", "BOT_8x8_MULT_REG", "PIPELINE_16x16_MULT_REG1", "MODE_8x8")
    parameters = {**{name: Const(1, 1) for name in registers}, **_both_halves(OUTPUT_SELECT=2)}
    return _instance(a, b, Cat(*products), parameters)


def sb_mac16_accumulator(a: Value, b: Value, addend: Value, total: Value) -> Instance:
    """``total``, of up to 32 bits, is the last cycle's ``addend`` plus ``a * b`` of three cycles ago.

    Registers: the operands', the whole product's and the adder's. ``addend`` comes from outside and not from that last
    register on a way inside the cell, because such a sum could not begin anew: what clears the register is put in place
    of an addition, not before one.
    """
    parameters = {
        "PIPELINE_16x16_MULT_REG2": Const(1, 1),
        **_both_halves(OUTPUT_SELECT=1, ADDSUB_LOWERINPUT=2),
        "TOPADDSUB_UPPERINPUT": Const(1, 1),  # C
        "BOTADDSUB_UPPERINPUT": Const(1, 1),  # D
        "TOPADDSUB_CARRYSELECT": Const(2, 2),  # the carry of the lower half
    }
    return _instance([a], [b], total, parameters, addend=addend)


def _both_halves(**selects: int) -> dict[str, Const]:
    return {f"{half}{name}": Const(value, 2) for half in ("TOP", "BOT") for name, value in selects.items()}


def _instance(
    a: Sequence[Value], b: Sequence[Value], output: Value, parameters: dict[str, Const], addend: Value | None = None
) -> Instance:
    """An instance with the registers of A and B; the first operand in the lower part of each."""
    rest = Signal(2 * _WIDTH - len(output), name="output_rest")
    addend = Const(0, 2 * _WIDTH) if addend is None else Cat(addend, Const(0, 2 * _WIDTH - len(addend)))
    return Instance(
        "SB_MAC16",
        p_A_REG=Const(1, 1),
        p_B_REG=Const(1, 1),
        p_A_SIGNED=Const(_signed(a[0]), 1),
        p_B_SIGNED=Const(_signed(b[0]), 1),
        **{f"p_{name}": value for name, value in parameters.items()},
        i_CLK=ClockSignal(),
        i_CE=1,
        i_A=_side_by_side(a),
        i_B=_side_by_side(b),
        i_C=addend[_WIDTH:],
        i_D=addend[:_WIDTH],
        **{f"i_{name}": 0 for name in _ZEROS},
        o_O=Cat(output, rest),
    )


def _signed(operand: Value) -> bool:
    return bool(Shape.cast(operand.shape()).signed)


def _side_by_side(operands: Sequence[Value]) -> Value:
    """Each extended to its part of the 16 bits."""
    width = _WIDTH // len(operands)
    if any(len(operand) > width for operand in operands):
        raise ValueError(f"operands must have at most {width} bits, not {[len(operand) for operand in operands]}")
    return Cat(
        *(Cat(each, (each[-1] if _signed(each) else Const(0, 1)).replicate(width - len(each))) for each in operands)
    )
