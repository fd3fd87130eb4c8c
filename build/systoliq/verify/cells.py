"""Vendor cells as numbers: the values of their outputs, with their registers treated as wires.

Written from the vendors' documents, independently of the simulation models. The cells multiply, add, or are read-only
memory; a cell in any other mode raises `UnreadableError`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .expression import UnreadableError

__all__ = ["CELLS", "Cell", "mode_of_mac16"]

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


def mode_of_mac16(parameters: Mapping[str, str]) -> str:
    """Return what a SB_MAC16 gives: "product", "pair" of products of bytes, or "sum" of a product and C and D."""
    for mode, (needed, possible) in _MAC16_MODES.items():
        if all(parameters.get(name) == value for name, value in needed.items()):
            wrong = [name for name in parameters if name not in {*needed, *possible, *_MAC16_NEEDED, "A_REG", "B_REG"}]
            if wrong:
                raise UnreadableError(f"a SB_MAC16 that gives a {mode} has {wrong[0]}, a mode that is not read")
            return mode
    raise UnreadableError("a SB_MAC16 is in a mode that is not read")


def _sb_mac16(pins: Pins, parameters: Mapping[str, str]) -> Value:
    """O = A * B, or A * B + CD, or the products of their bytes, all modulo 2^32 (Lattice FPGA-TN-02007)."""
    mode, found = mode_of_mac16(parameters), 0
    width = 8 if mode == "pair" else 16
    for low in range(0, 16, width):
        a, b = (pins(letter) >> low & (1 << width) - 1 for letter in "AB")
        a = _signed(a, width) if parameters["A_SIGNED"] == "1" else a
        b = _signed(b, width) if parameters["B_SIGNED"] == "1" else b
        found |= (a * b & (1 << 2 * width) - 1) << 2 * low
    return found + (pins("C") << 16 | pins("D")) if mode == "sum" else found


_WIDEST = 18  # bits of a port of a DP16KD


def _dp16kd(pins: Pins, parameters: Mapping[str, str]) -> Value:
    """DOA and DOB = the words at ADA and ADB (Lattice TN1264, now FPGA-TN-02204).

    A bit's address is its word's address times the width, in bytes of 8 bits, or of 9 if the width is 9 or 18.
    INITVAL_n holds bytes 32 n to 32 n + 31, a pair of them in every 20 bits; they are 0 by default.
    """
    width = int(parameters["DATA_WIDTH_B"])
    low = {1: 0, 2: 1, 4: 2, 9: 3, 18: 4}[width]

    def byte(number: int) -> int:
        contents = int(parameters.get(f"INITVAL_{number >> 5:02X}", "0"))
        return contents >> (number >> 1 & 15) * 20 + (number & 1) * 9 & 0x1FF

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


@functools.cache
def _of_carry(init: int) -> npt.NDArray[np.int64]:
    """The sum, and twice the carry out, of a table with the contents `init`: at each of its inputs, with the carry."""
    found = []
    for enters in (0, 1):
        for at in range(16):
            half = init >> at & 1
            found.append((half ^ enters) | (enters if half else init >> (at & 3) & 1) << 1)
    return np.array(found, dtype=np.int64)


def _ccu2c(pins: Pins, parameters: Mapping[str, str]) -> Value:
    """S0, S1 and COUT: two lookup tables of four inputs and a carry past both (Yosys' simulation model, INJECT "NO").

    Table i shows INITi at DCBA; the sum is that and the carry's exclusive or. Where the table returns 1, the carry
    propagates; otherwise the carry out is the table's value at BA alone.
    """

    def of(table: int, carry: Value) -> Value:
        """The sum, and twice the carry out."""
        found = _of_carry(int(parameters[f"INIT{table}"]))
        at = sum(pins(f"{pin}{table}") << place for place, pin in enumerate("ABCD")) + (carry << 4)
        return found[at.astype(np.intp)] if isinstance(at, np.ndarray) else int(found[at])

    low = of(0, pins("CIN"))
    high = of(1, low >> 1)
    return (low & 1) | high << 1


def _alu(pins: Pins, _: Mapping[str, str]) -> Value:
    """SUM and COUT: I3 + (I0 and I1) + CIN (Gowin UG288, mode MULT)."""
    return pins("I3") + (pins("I0") & pins("I1")) + pins("CIN")


_REGISTERS = ("INPUTA", "INPUTB", "PIPELINE", "OUTPUT")
_MAC16_NEEDED = dict.fromkeys(("A_SIGNED", "B_SIGNED"), ("0", "1"))
_MAC16_PAIR = ("TOP_8x8_MULT_REG", "BOT_8x8_MULT_REG", "PIPELINE_16x16_MULT_REG1")
_MAC16_MODES: Mapping[str, tuple[Mapping[str, str], Sequence[str]]] = {  # parameters that each mode has, and may have
    "product": ({"TOPOUTPUT_SELECT": "3", "BOTOUTPUT_SELECT": "3"}, ["PIPELINE_16x16_MULT_REG2"]),
    "pair": ({"TOPOUTPUT_SELECT": "2", "BOTOUTPUT_SELECT": "2", "MODE_8x8": "1"}, _MAC16_PAIR),
    "sum": (
        {
            **dict.fromkeys(("TOPOUTPUT_SELECT", "BOTOUTPUT_SELECT"), "1"),  # the register behind the adder
            **dict.fromkeys(("TOPADDSUB_LOWERINPUT", "BOTADDSUB_LOWERINPUT"), "2"),  # the product
            **dict.fromkeys(("TOPADDSUB_UPPERINPUT", "BOTADDSUB_UPPERINPUT"), "1"),  # C and D
            "TOPADDSUB_CARRYSELECT": "2",  # the carry of the lower half
        },
        ["PIPELINE_16x16_MULT_REG2"],
    ),
}
_MAC16_IDLE = (
    *("AHOLD", "BHOLD", "CHOLD", "DHOLD", "CI", "ACCUMCI", "SIGNEXTIN"),
    *(f"{name}{half}" for name in ("ADDSUB", "OHOLD", "OLOAD", "IRST", "ORST") for half in ("TOP", "BOT")),
)

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
    "ALU": Cell(outputs={"SUM": 1, "COUT": 1}, modes={"ALU_MODE": ("9",)}, needed=("ALU_MODE",), tied={}, shown=_alu),
    "MULT9X9": _gowin(9),
    "MULT18X18": _gowin(18),
    "SB_MAC16": Cell(
        outputs={"O": 32},
        modes=_MAC16_NEEDED
        | dict.fromkeys(("A_REG", "B_REG", "PIPELINE_16x16_MULT_REG2", *_MAC16_PAIR), ("0", "1"))
        | {name: (value,) for needed, _ in _MAC16_MODES.values() for name, value in needed.items()}
        | dict.fromkeys(("TOPOUTPUT_SELECT", "BOTOUTPUT_SELECT"), ("1", "2", "3")),
        needed=tuple(_MAC16_NEEDED),
        tied={"CE": 1} | dict.fromkeys(_MAC16_IDLE, 0),
        shown=_sb_mac16,
    ),
}
"""The cells that are read, by name."""
