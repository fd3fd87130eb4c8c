"""Lattice MachXO3: parts without multipliers, for layers whose products are logic.

Capacities are as nextpnr reports them (Lattice FPGA-DS-02032, MachXO3 family, table 1.1). nextpnr 0.11.1 has no
larger MachXO2 than the 1200.
"""

from __future__ import annotations

from ..target import Target
from .family import Cells, Family, Placement
from .trellis import MEMORIES, MODES

__all__ = ["MACHXO3"]

MACHXO3 = Family(
    name="machxo3",
    title="MachXO3",
    targets=(
        Target(
            name="machxo3-6900",
            family="machxo3",
            title="Lattice LCMXO3LF-6900C, speed 5, out of context",
            synth="synth_lattice -family xo3 -noiopad",
            place=("--device", "LCMXO3LF-6900C-5BG256C", "--lpf-allow-unconstrained"),
            capacity={"lut_sites": 6864, "ff": 6864, "ram": 26},
            without_ports=True,
            mhz=60.0,
        ),
    ),
    cells=Cells(
        memories={"DP8KC": 1, "PDPW8KC": 1},
        carries={"CCU2D": 2},
        tables={"LUT4": 1, "CCU2D": 2, "TRELLIS_DPR16X4": 6},  # memory takes 4, its write port the inputs of 2 more
        registers=("TRELLIS_FF",),
        boxes=MEMORIES,
        modelled=MODES,
    ),
    placement=Placement(
        package="yowasp-nextpnr-machxo2",
        used={
            "lut_sites": {"TRELLIS_COMB": 1},
            "ff": {"TRELLIS_FF": 1},
            "ram": {"DP8KC": 1},
        },
        output="--textcfg",
        seconds=0.012,
    ),
    models="lattice/cells_sim_xo3.v",
    words="map_gates",
    netlists={"machxo3": "machxo3-6900"},
)
