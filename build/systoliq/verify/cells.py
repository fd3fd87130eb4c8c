"""Vendor cells as numbers: the values of their outputs, with their registers treated as wires.

Written from the vendors' documents, independently of the simulation models. The cells multiply, add, or are read-only
memory; a cell in any other mode raises `UnreadableError`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .expression import UnreadableError

__all__ = ["CELLS", "Cell"]

Value = Any  # an int, or an array of ints (dtype object), not negative
Pins = Callable[[str], Value]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One kind of cell, in the modes that the reader supports.

    ``outputs``: their widths. ``modes``: the possible values of each parameter, except ``contents``, which can be any
    number; ``needed``: required parameters. ``tied``: inputs that must be constant. ``shown``: all outputs side by
    side, from the lowest bits up.
    """

    outputs: Mapping[str, int]
    modes: Mapping[str, tuple[str, ...]]
    contents: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    tied: Mapping[str, int]
    shown: Callable[[Pins, Mapping[str, str]], Value]

    def values(self, kind: str, parameters: Mapping[str, str], pins: Pins) -> dict[str, Value]:
        """Return the value of each output for the inputs ``pins(name)``."""
        for name, value in parameters.items():
            if value not in self.modes.get(name, ()) and name not in self.contents:
                raise UnreadableError(f"a {kind} has {name} = {value}, a mode that is not read")
        for name in self.needed:
            if name not in parameters:
                raise UnreadableError(f"a {kind} has no {name}")
        for name, tie in self.tied.items():
            found = pins(name)
            if not isinstance(found, int) or found != tie:
                raise UnreadableError(f"a {kind} has {name} tied to something else than {tie}")
        shown = self.shown(pins, parameters)
        values, low = {}, 0
        for name, width in self.outputs.items():
            values[name] = (shown >> low) & ((1 << width) - 1)
            low += width
        return values


def _signed(value: Value, bits: int) -> Value:
    return value - ((value >> (bits - 1)) << bits)


def _mult18x18d(pins: Pins, _: Mapping[str, str]) -> Value:
    """P = A * B, signed (Lattice TN1267, now FPGA-TN-02205)."""
    a, b = (_signed(sum(pins(f"{port}{i}") << i for i in range(18)), 18) for port in "AB")
    return a * b


def _gowin(width: int) -> Cell:
    """DOUT = A * B, signed (Gowin UG287)."""

    def shown(pins: Pins, _: Mapping[str, str]) -> Value:
        return _signed(pins("A"), width) * _signed(pins("B"), width)

    return Cell(
        outputs={"DOUT": 2 * width},
        modes=dict.fromkeys(("AREG", "BREG", "PIPE_REG", "OUT_REG"), ("0", "1")) | {"MULT_RESET_MODE": ("SYNC",)},
        tied={"CE": 1, "RESET": 0, "ASIGN": 1, "BSIGN": 1, "ASEL": 0, "BSEL": 0},
        shown=shown,
    )


def _sb_mac16(pins: Pins, _: Mapping[str, str]) -> Value:
    """O = A * B, signed, past the adders (Lattice FPGA-TN-02007)."""
    return _signed(pins("A"), 16) * _signed(pins("B"), 16)


_WIDEST = 18  # bits of a port of a DP16KD


def _dp16kd(pins: Pins, parameters: Mapping[str, str]) -> Value:
    """DOA and DOB = the words at ADA and ADB (Lattice TN1264, now FPGA-TN-02204).

    A bit's address is its word's address times the width, in bytes of 8 bits, or of 9 if the width is 9 or 18.
    INITVAL_n holds bytes 32 n to 32 n + 31, a pair of them in every 20 bits.
    """
    width = int(parameters["DATA_WIDTH_B"])
    low = {1: 0, 2: 1, 4: 2, 9: 3, 18: 4}[width]

    def byte(number: int) -> int:
        name = f"INITVAL_{number >> 5:02X}"
        if name not in parameters:
            raise UnreadableError(f"a DP16KD is read where it has no {name}")
        return int(parameters[name]) >> (number >> 1 & 15) * 20 + (number & 1) * 9 & 0x1FF

    def word(at: int) -> int:
        pair = byte(at >> 3) | (byte(at >> 3 | 1) << 9 if width == 18 else 0)
        return pair >> (at & 7 if width < 9 else 0) & ((1 << width) - 1)

    def shown(port: str) -> Value:
        address = sum(pins(f"AD{port}{i}") << i for i in range(low, 14))
        if isinstance(address, np.ndarray):
            return np.array([word(int(at)) for at in address], dtype=object)
        return word(address)

    if parameters["DATA_WIDTH_A"] != parameters["DATA_WIDTH_B"]:
        raise UnreadableError("a DP16KD has ports of two widths, a mode that is not read")
    return shown("A") | shown("B") << _WIDEST


def _ccu2c(pins: Pins, parameters: Mapping[str, str]) -> Value:
    """S0, S1 and COUT: two lookup tables of four inputs and a carry past both (Yosys' simulation model, INJECT "NO").

    Table i shows INITi at DCBA; the sum is that and the carry's exclusive or. Where the table returns 1, the carry
    propagates; otherwise the carry out is the table's value at BA alone.
    """

    def of(table: int, carry: Value) -> Value:
        """The sum, and twice the carry out."""
        init = int(parameters[f"INIT{table}"])
        found = []
        for enters in (0, 1):
            for at in range(16):
                half = init >> at & 1
                found.append((half ^ enters) | (enters if half else init >> (at & 3) & 1) << 1)
        at = sum(pins(f"{pin}{table}") << place for place, pin in enumerate("ABCD")) + (carry << 4)
        return np.array(found)[at.astype(np.intp)] if isinstance(at, np.ndarray) else found[at]

    low = of(0, pins("CIN"))
    high = of(1, low >> 1)
    return (low & 1) | high << 1


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
        shown=_mult18x18d,
    ),
    "DP16KD": Cell(
        outputs={f"DO{port}{i}": 1 for port in "AB" for i in range(_WIDEST)},
        modes={
            **dict.fromkeys(("DATA_WIDTH_A", "DATA_WIDTH_B"), ("1", "2", "4", "9", "18")),
            **{f"REGMODE_{port}": ("NOREG", "OUTREG") for port in "AB"},
            **{f"CSDECODE_{port}": ("0b000",) for port in "AB"},
            **{f"CLK{port}MUX": (f"CLK{port}",) for port in "AB"},
            **{f"WRITEMODE_{port}": ("NORMAL",) for port in "AB"},
            **dict.fromkeys(("RESETMODE", "ASYNC_RESET_RELEASE"), ("SYNC",)),
            "GSR": ("DISABLED",),
        },
        contents=tuple(f"INITVAL_{i:02X}" for i in range(64)),
        needed=("DATA_WIDTH_A", "DATA_WIDTH_B", "GSR"),
        tied={
            **{pin.replace("*", port): 0 for port in "AB" for pin in ("WE*", "RST*", "CS*0", "CS*1", "CS*2")},
            **{pin.replace("*", port): 1 for port in "AB" for pin in ("CE*", "OCE*")},
        },
        shown=_dp16kd,
    ),
    "CCU2C": Cell(
        outputs={"S0": 1, "S1": 1, "COUT": 1},
        modes={"INJECT1_0": ("NO",), "INJECT1_1": ("NO",)},
        contents=("INIT0", "INIT1"),
        needed=("INIT0", "INIT1", "INJECT1_0", "INJECT1_1"),
        tied={},
        shown=_ccu2c,
    ),
    "MULT9X9": _gowin(9),
    "MULT18X18": _gowin(18),
    "SB_MAC16": Cell(
        outputs={"O": 32},
        modes=_MAC16_NEEDED | dict.fromkeys(("A_REG", "B_REG", "PIPELINE_16x16_MULT_REG2"), ("0", "1")),
        needed=tuple(_MAC16_NEEDED),
        tied={"CE": 1} | dict.fromkeys(_MAC16_IDLE, 0),
        shown=_sb_mac16,
    ),
}
"""The cells that are read, by name."""
