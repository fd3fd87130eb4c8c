"""ECP5: two multipliers and the 54-bit adder next to them, which can hold its sum: a multiply-accumulate without logic.

The adder's inputs ``A``, ``B``, ``MA``, ``MB``, ``SIGNEDIA`` and ``SIGNEDIB`` have no other source than the two
multipliers: nextpnr refuses any other wiring (YosysHQ/nextpnr, ecp5/pack.cc, ``check_alu``), places the three side by
side, and wants the multipliers' output registers off, which are the adder's.

The operation codes:

==============  ==================================================================================================
``OP1 OP0``     first operand: 01 the first product, 11 nothing
``OP3 OP2``     second operand: 01 the second product, 11 nothing
``OP6 OP5 OP4``  third operand: 000 nothing, 101 the sum held
``OP10..OP7``   0100: the three operands are added
==============  ==================================================================================================

Sources. Netlists for ECP5 that the vendor's own synthesis wrote: an accumulator of products (luso-torres/RTL_FPGA on
GitHub, SD3/VHDL/aula46-mac, mac_vhdl.vhd and impl1/MAC_prim.v), and plain products in other folders there. The vendor's
simulation model of ALU54A, the same adder in ECP3, documents the rest: only the lower 52 bits of a sum are fed back;
OP6 to OP0 have a register in REG_OPCODEIN_0 and one behind it in REG_OPCODEIN_1. The guide is TN1267, now
FPGA-TN-02205.
"""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Instance, Signal, Value

from .ecp5 import WIDTH, clocking, registers, signed_mult18x18d

__all__ = ["HELD_BITS", "alu54b"]

HELD_BITS = 52
"""Bits of a sum that come back to be added to."""

_NOTHING = 0b11  # as the first or the second operand
_PRODUCT = 0b01
_ADD = 0b0100


def alu54b(a: Sequence[Value], b: Sequence[Value], total: Value, *, keep: Value | None = None) -> dict[str, Instance]:
    """``total`` is the sum of one or two products ``a[i] * b[i]``, all signed, of three cycles ago.

    With ``keep``, what ``total`` held before is added where ``keep`` was 1 two cycles ago, a cycle after the operands.
    Sums wrap. Two multipliers are used for one product as well. Instances by their names.
    """
    if not 1 <= len(a) == len(b) <= 2:
        raise ValueError(f"there must be one or two pairs of operands, not {len(a)} and {len(b)} operands")
    widest = max(len(operand) for operand in [*a, *b])
    if widest > WIDTH:
        raise ValueError(f"operands must have at most {WIDTH} bits, not {widest}")
    if len(total) > HELD_BITS:
        raise ValueError(f"total must have at most {HELD_BITS} bits, not {len(total)}")
    # Zeros below the operands cost nothing; signs above them cost wires. The sum must end below the 52 bits.
    a_shift = min(WIDTH - max(map(len, a)), HELD_BITS - len(total))
    b_shift = min(WIDTH - max(map(len, b)), HELD_BITS - len(total) - a_shift)
    instances: dict[str, Instance] = {}
    pins: dict[str, object] = {}
    for i, (passed, product) in enumerate((("A", "MA"), ("B", "MB"))):
        operands = (a[i], b[i]) if i < len(a) else (Const(0, 1), Const(0, 1))
        p, ro, signed_p = (
            Signal(width, name=f"{name}_{i}") for name, width in (("p", 36), ("ro", 36), ("signed_p", 1))
        )
        instances[f"multiplier_{i}"] = signed_mult18x18d(
            ("INPUTA", "INPUTB", "PIPELINE"),
            {
                **_bits("i_A", _shifted(operands[0], a_shift)),
                **_bits("i_B", _shifted(operands[1], b_shift)),
                **_bits("o_P", p),
                **_bits("o_ROA", ro[:WIDTH]),
                **_bits("o_ROB", ro[WIDTH:]),
                "o_SIGNEDP": signed_p,
            },
        )
        pins |= _bits(f"i_{passed}", ro) | _bits(f"i_{product}", p) | {f"i_SIGNEDI{passed}": signed_p}
    held = Const(0, 3) if keep is None else Cat(keep, 0, keep)
    operation = Cat(Const(_PRODUCT, 2), Const(_PRODUCT if len(a) == 2 else _NOTHING, 2), held, Const(_ADD, 4))
    instances["adder"] = Instance(
        "ALU54B",
        **registers("OPCODEIN_0", "OUTPUT0", "OUTPUT1"),
        p_GSR="DISABLED",
        p_RESETMODE="SYNC",
        p_LEGACY="DISABLED",
        p_MULT9_MODE="DISABLED",
        **clocking(),
        **pins,
        **_bits("i_OP", operation),
        **{f"o_R{a_shift + b_shift + i}": total[i] for i in range(len(total))},
    )
    return instances


def _bits(port: str, value: Value) -> dict[str, Value]:
    return {f"{port}{i}": value[i] for i in range(len(value))}


def _shifted(operand: Value, shift: int) -> Value:
    """``operand``, signed, times 2 to the power of ``shift``, in as many bits as the cell has."""
    return Cat(Const(0, shift), operand, operand[-1].replicate(WIDTH - shift - len(operand)))
