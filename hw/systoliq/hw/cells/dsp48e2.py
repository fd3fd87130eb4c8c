"""UltraScale and UltraScale+: DSP48E2, a 27 x 18 multiplier with a pre-adder before and a 48-bit accumulator behind it.

Wired up by name: Yosys 0.70 packs registers and additions into DSP48E1 only (``xilinx_dsp`` does nothing but the C
register and cascades for the family xcu), and leaves a DSP48E2 a bare multiplier. Source: AMD UG579 (UltraScale
Architecture DSP Slice); names of ports and attributes: UG974.
"""

from __future__ import annotations

from amaranth.hdl import Cat, ClockSignal, Const, Instance, Signal, Value

__all__ = ["A_BITS", "B_BITS", "P_BITS", "dsp48e2"]

A_BITS, B_BITS, P_BITS = 27, 18, 48

_CLEAR = 7  # OPMODE[8:7] = 01 adds P, 10 adds RND; the pin of bit 7, inverted inside the cell, takes a clear
_ENABLES = ("A1", "A2", "AD", "ALUMODE", "B1", "B2", "C", "CARRYIN", "CTRL", "D", "INMODE", "M", "P")
_RESETS = ("A", "ALLCARRYIN", "ALUMODE", "B", "C", "CTRL", "D", "INMODE", "M", "P")


def dsp48e2(
    a: Value,
    b: Value,
    *,
    d: Value | None = None,
    constant: int = 0,
    p: Value | None = None,
    clear: Value | None = None,
    cascade_in: Value | None = None,
    cascade_out: Signal | None = None,
) -> Instance:
    """``p`` is ``a * b`` of three cycles ago, signed: registers of the operands, of the product and of the sum.

    To it are added ``cascade_in`` of one cycle ago, which must be the ``cascade_out`` of the cell before (its ``p``, of
    48 bits); and, where there is a ``clear``, the ``p`` of one cycle ago unless ``clear`` was 1 two cycles ago.

    With ``d`` the product is ``(a + d) * b``: ``a`` of five cycles ago, ``b`` and ``d`` of four. Without ``clear``,
    ``constant`` is added.
    """
    if len(a) > A_BITS or len(b) > B_BITS:
        raise ValueError(f"operands must have at most {A_BITS} and {B_BITS} bits, not {len(a)} and {len(b)}")
    opmode = Cat(
        Const(0b0101, 4),
        Const(0 if cascade_in is None else 0b001, 3),
        1 if clear is None else clear,
        Const(1 if constant else 0, 1),
    )
    rest = {} if p is None else {"o_P": Cat(p, Signal(P_BITS - len(p), name="p_rest"))}
    return Instance(
        "DSP48E2",
        p_AMULTSEL="A" if d is None else "AD",
        **{f"p_{name}REG": 1 if d is None else 2 for name in ("A", "B", "ACASC", "BCASC")},
        **{f"p_{name}REG": 0 if d is None else 1 for name in ("D", "AD")},
        **{f"p_{name}REG": 1 for name in ("M", "P", "OPMODE")},
        **{f"p_{name}REG": 0 for name in ("C", "INMODE", "ALUMODE", "CARRYIN", "CARRYINSEL")},
        p_RND=Const(constant, P_BITS),
        p_IS_OPMODE_INVERTED=Const(1 << _CLEAR, 9),
        **{f"i_CE{name}": 1 for name in _ENABLES},
        **{f"i_RST{name}": 0 for name in _RESETS},
        i_CLK=ClockSignal(),
        i_A=_extended(a, 30),
        i_B=_extended(b, B_BITS),
        i_C=Const(0, P_BITS),
        i_D=Const(0, A_BITS) if d is None else _extended(d, A_BITS),
        i_ACIN=Const(0, 30),
        i_BCIN=Const(0, B_BITS),
        i_PCIN=Const(0, P_BITS) if cascade_in is None else cascade_in,
        i_INMODE=Const(0 if d is None else 0b00100, 5),
        i_ALUMODE=Const(0, 4),
        i_OPMODE=opmode,
        i_CARRYINSEL=Const(0, 3),
        i_CARRYIN=0,
        i_CARRYCASCIN=0,
        i_MULTSIGNIN=0,
        **rest,
        **({} if cascade_out is None else {"o_PCOUT": cascade_out}),
    )


def _extended(value: Value, bits: int) -> Value:
    return Cat(value, value[-1].replicate(bits - len(value)))
