"""iCE40 UltraPlus: SB_MAC16, here as a 16 x 16 multiplier with its registers. Source: Lattice FPGA-TN-02007.

Wired up by name: the netlist that `synth_ice40 -dsp` of Yosys 0.70 made of the portable form failed its simulation.
"""

from __future__ import annotations

from amaranth.hdl import Cat, ClockSignal, Const, Instance, Signal, Value

__all__ = ["sb_mac16"]

_WIDTH = 16


def sb_mac16(a: Value, b: Value, product: Value) -> Instance:
    """``product = a * b`` of two cycles ago, all signed: the operands' registers and that of the whole product."""
    if len(a) > _WIDTH or len(b) > _WIDTH:
        raise ValueError(f"operands must have at most {_WIDTH} bits, not {len(a)} and {len(b)}")
    zeros = (
        "ADDSUBTOP",
        "ADDSUBBOT",
        "AHOLD",
        "BHOLD",
        "CHOLD",
        "DHOLD",
        "OHOLDTOP",
        "OHOLDBOT",
        "OLOADTOP",
        "OLOADBOT",
    )
    zeros += ("IRSTTOP", "IRSTBOT", "ORSTTOP", "ORSTBOT", "CI", "ACCUMCI", "SIGNEXTIN")
    rest = Signal(2 * _WIDTH - len(product), name="product_rest")
    flags = {"A_REG": 1, "B_REG": 1, "PIPELINE_16x16_MULT_REG2": 1, "A_SIGNED": 1, "B_SIGNED": 1}
    return Instance(
        "SB_MAC16",
        **{f"p_{name}": Const(value, 1) for name, value in flags.items()},
        p_TOPOUTPUT_SELECT=Const(3, 2),  # the 16 x 16 product, past the adders
        p_BOTOUTPUT_SELECT=Const(3, 2),
        i_CLK=ClockSignal(),
        i_CE=1,
        i_A=_extended(a),
        i_B=_extended(b),
        i_C=Const(0, _WIDTH),
        i_D=Const(0, _WIDTH),
        **{f"i_{name}": 0 for name in zeros},
        o_O=Cat(product, rest),
    )


def _extended(value: Value) -> Value:
    return Cat(value, value[-1].replicate(_WIDTH - len(value)))
