"""Outputs of the vendor cells that systoliq instantiates, with their widths; all other pins are inputs."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["CELL_OUTPUTS"]

_CASCADES_OF_DSP48E2 = {"ACOUT": 30, "BCOUT": 18, "P": 48, "PCOUT": 48, "XOROUT": 8, "CARRYOUT": 4}
_FLAGS_OF_DSP48E2 = (
    "CARRYCASCOUT", "MULTSIGNOUT", "OVERFLOW", "PATTERNBDETECT", "PATTERNDETECT", "UNDERFLOW",
)  # fmt: skip


def _bits(*ports: tuple[str, int]) -> dict[str, int]:
    return {f"{name}{bit}": 1 for name, count in ports for bit in range(count)}


CELL_OUTPUTS: Mapping[str, Mapping[str, int]] = {
    "MULT18X18D": {**_bits(("P", 36), ("ROA", 18), ("ROB", 18)), "SIGNEDP": 1},
    "ALU54B": _bits(("R", 54)),
    "CCU2C": {"S0": 1, "S1": 1, "COUT": 1},
    "LUT4": {"Z": 1},
    "PFUMX": {"Z": 1},
    "L6MUX21": {"Z": 1},
    "DP16KD": _bits(("DOA", 18), ("DOB", 18)),
    "MULT9X9": {"DOUT": 18, "SOA": 9, "SOB": 9},
    "MULT18X18": {"DOUT": 36, "SOA": 18, "SOB": 18},
    "ALU": {"SUM": 1, "COUT": 1},
    "MULTADDSUB9X9WIDE": {"Z": 54},
    "SB_MAC16": {"O": 32, "CO": 1, "ACCUMCO": 1, "SIGNEXTOUT": 1},
    "DSP48E2": {**_CASCADES_OF_DSP48E2, **dict.fromkeys(_FLAGS_OF_DSP48E2, 1)},
}
"""Pins by kind of cell (Lattice FPGA-TN-02205, FPGA-TN-02204, FPGA-TN-02007, FPGA-TN-02096; Gowin UG287, UG288; AMD
UG579).
"""
