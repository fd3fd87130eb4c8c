"""Xilinx 7 series and UltraScale+: cells alone, since no place and route is to be had by pip."""

from __future__ import annotations

from ..target import Target
from .family import Cells, Family

__all__ = ["XILINX"]

XILINX = Family(
    name="xilinx",
    title="Xilinx",
    architecture="xilinx",
    targets=(
        Target(
            name="xilinx-xc7",
            family="xilinx",
            title="Xilinx 7 series, cells only",
            synth="synth_xilinx -family xc7 -abc9 -flatten",
            cells="xilinx",
        ),
        Target(
            name="xilinx-xcup",
            family="xilinx",
            title="Xilinx UltraScale+, cells only",
            synth="synth_xilinx -family xcup -abc9 -flatten",
            cells="dsp48e2",
            other_cells=("dsp48e2-pair", "xilinx"),
        ),
    ),
    cells=Cells(
        multipliers={"DSP48E1": 1, "DSP48E2": 1},
        memories={"RAMB18E1": 1, "RAMB36E1": 2, "RAMB18E2": 1, "RAMB36E2": 2},
        carries={"CARRY4": 4, "CARRY8": 8},
        tables={
            **dict.fromkeys((*(f"LUT{size}" for size in range(1, 7)), "SRL16E", "SRLC32E"), 1),
            "RAM32X1D": 2,
            "RAM64X1D": 2,
            "RAM32M": 4,
            "RAM64M": 4,
            "RAM32M16": 8,
            "RAM64M8": 8,
        },
        registers=("FDRE", "FDSE", "FDCE", "FDPE"),
    ),
    netlists={"xc7": "xilinx-xc7", "xcup": "xilinx-xcup"},
)
