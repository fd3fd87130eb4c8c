"""Vendor cells that multiply, as numbers: what their outputs show, their registers taken for wires.

Written from the vendors' documents, apart from the models that simulations use. A cell in any mode but a plain product
is an `UnreadableError`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .expression import UnreadableError

__all__ = ["CELLS", "Cell"]

Value = Any  # an int, or an array of ints (dtype object), not negative
Pins = Callable[[str], Value]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One kind of cell, in the modes in which it is read.

    ``outputs``: their widths. ``modes``: what each parameter may be; ``needed``: those that may not be left out.
    ``tied``: inputs that must be constant. ``product``: all outputs side by side, the first in the lowest bits.
    """

    outputs: Mapping[str, int]
    modes: Mapping[str, tuple[str, ...]]
    needed: tuple[str, ...] = ()
    tied: Mapping[str, int]
    product: Callable[[Pins], Value]

    def values(self, kind: str, parameters: Mapping[str, str], pins: Pins) -> dict[str, Value]:
        """Each output, where the inputs show ``pins(name)``."""
        for name, value in parameters.items():
            if value not in self.modes.get(name, ()):
                raise UnreadableError(f"a {kind} has {name} = {value}, a mode that is not read")
        for name in self.needed:
            if name not in parameters:
                raise UnreadableError(f"a {kind} has no {name}")
        for name, tie in self.tied.items():
            found = pins(name)
            if not isinstance(found, int) or found != tie:
                raise UnreadableError(f"a {kind} has {name} tied to something else than {tie}")
        product = self.product(pins)
        values, low = {}, 0
        for name, width in self.outputs.items():
            values[name] = (product >> low) & ((1 << width) - 1)
            low += width
        return values


def _signed(value: Value, bits: int) -> Value:
    return value - ((value >> (bits - 1)) << bits)


def _mult18x18d(pins: Pins) -> Value:
    """P = A * B, signed (Lattice TN1267, now FPGA-TN-02205)."""
    a, b = (_signed(sum(pins(f"{port}{i}") << i for i in range(18)), 18) for port in "AB")
    return a * b


def _sb_mac16(pins: Pins) -> Value:
    """O = A * B, signed, past the adders (Lattice FPGA-TN-02007)."""
    return _signed(pins("A"), 16) * _signed(pins("B"), 16)


_REGISTERS = ("INPUTA", "INPUTB", "PIPELINE", "OUTPUT")
_MAC16_NEEDED = {"A_SIGNED": ("1",), "B_SIGNED": ("1",), "TOPOUTPUT_SELECT": ("3",), "BOTOUTPUT_SELECT": ("3",)}
_MAC16_IDLE = ("AHOLD", "BHOLD", "OHOLDTOP", "OHOLDBOT", "IRSTTOP", "IRSTBOT", "ORSTTOP", "ORSTBOT")

CELLS: Mapping[str, Cell] = {
    "MULT18X18D": Cell(
        outputs={f"P{i}": 1 for i in range(36)},
        modes={
            **{f"REG_{register}_{pin}": (f"{pin}0",) for register in _REGISTERS for pin in ("CLK", "CE", "RST")},
            "GSR": ("DISABLED",),
            "RESETMODE": ("SYNC",),
            "SOURCEB_MODE": ("B_SHIFT",),
        },
        tied={"CE0": 1, "RST0": 0, "SIGNEDA": 1, "SIGNEDB": 1, "SOURCEA": 0, "SOURCEB": 0},
        product=_mult18x18d,
    ),
    "SB_MAC16": Cell(
        outputs={"O": 32},
        modes=_MAC16_NEEDED | dict.fromkeys(("A_REG", "B_REG", "PIPELINE_16x16_MULT_REG2"), ("0", "1")),
        needed=tuple(_MAC16_NEEDED),
        tied={"CE": 1} | dict.fromkeys(_MAC16_IDLE, 0),
        product=_sb_mac16,
    ),
}
"""The cells that are read, by name."""
