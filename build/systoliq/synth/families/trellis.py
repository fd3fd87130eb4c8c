"""Cells of Project Trellis that ECP5 and MachXO3 have in common: the register, and the memory in lookup tables."""

from __future__ import annotations

__all__ = ["MEMORIES", "MODES"]

MEMORIES = ("TRELLIS_DPR16X4",)
"""Kinds of memories in lookup tables."""

MODES = {
    "CLKMUX": ("CLK", "INV"),
    "CEMUX": ("CE", "INV", "1", "0"),
    "LSRMUX": ("LSR", "INV"),
    "SRMODE": ("LSR_OVER_CE", "ASYNC"),
    "REGSET": ("RESET", "SET"),
}
"""Values of the parameters of TRELLIS_FF that Yosys' models tell apart."""
