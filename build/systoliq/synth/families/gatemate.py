"""Cologne Chip GateMate. Capacities are as nextpnr reports them; multipliers are of fabric (CC_MULT), none apart."""

from __future__ import annotations

from ..target import Target
from .family import Cells, Family, Packing, Placement
from .sizes import MemoryBlocks, Sizes

__all__ = ["GATEMATE", "multiplier_sites"]


def multiplier_sites(a_bits: int, b_bits: int) -> int:
    """Return the LUT sites of a CC_MULT, as nextpnr 0.11.1 makes it: cells of two sites, one for each two bits of both
    operands, with three and four more at the edges.
    """
    return 2 * (-(-a_bits // 2) + 3) * (-(-b_bits // 2) + 4)


GATEMATE = Family(
    name="gatemate",
    title="GateMate",
    targets=(
        Target(
            name="gatemate-a1",
            family="gatemate",
            title="Cologne Chip CCGM1A1, speed mode (1.1 V), out of context",
            synth="synth_gatemate -luttree -nomx8 -noiopad -noclkbuf",
            place=("--device", "CCGM1A1"),
            capacity={"lut_sites": 40960, "ff": 40960, "ram": 64},
            without_ports=True,
            mhz=70.0,
        ),
    ),
    cells=Cells(
        memories={"CC_BRAM_20K": 1, "CC_BRAM_40K": 2},
        carries={"CC_ADDF": 1},
        tables={
            **dict.fromkeys(("CC_LUT1", "CC_LUT2", "CC_L2T4", "CC_MX2", "CC_ADDF"), 1),
            "CC_L2T5": 2,
            "CC_MX4": 2,
        },
        registers=("CC_DFF", "CC_DLT"),
        boxes=("CC_MULT",),
    ),
    placement=Placement(
        package="yowasp-nextpnr-himbaechel-gatemate",
        used={
            "lut_sites": {"CPE_LT": 1},
            "ff": {"CPE_FF": 1},
            "ram": {"RAM_HALF": 1},
        },
        output="",
        seconds=0.012,
    ),
    packing=Packing(
        constraints="top.ccf",
        constrain=("--vopt", "ccf=top.ccf"),
        write=("--vopt", "out=top.txt"),
        package="yowasp-nextpnr-himbaechel-gatemate",
        command="yowasp-gmpack",
        arguments=("top.txt", "top.bit"),
        suffix=".bit",
    ),
    sizes=Sizes(
        cells=("portable",),
        memories=MemoryBlocks(
            widths={512: 40, 1024: 20, 2048: 10, 4096: 5, 8192: 2, 16384: 1}, constant_bits=2064, written_bits=129
        ),
        common=1.8,
        plain_product=112,
        sequence=160,
        replay=200,
        few_replay=120,
        window=176,
        lane_sum_bit=14,
        shift_sum_bit=14,
        lane_bit=0.5,
        varying_bit=0.7,
        digit_bit=1.2,
        serial=450,
        plain_bit=0.95,
        row_sums=450,
        constant_bit=1.9,
        written_bit=16,
    ),
    netlists={"gatemate": "gatemate-a1"},
    words="map_gates",
)
