"""The parts that designs are synthesized for: which tools, with which arguments, and how much there is on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["CLOCK_PIN_FILE", "TARGETS", "Cells", "MultiplierSites", "Target", "open_target"]

CLOCK_PIN_FILE = "clock.cst"
"""For Gowin parts: the file with the place of the clock's pin."""


@dataclass(frozen=True, kw_only=True)
class Cells:
    """Standard cells: where a Liberty file is once the command `brings` put it there."""

    path: str
    brings: str


@dataclass(frozen=True, kw_only=True)
class MultiplierSites:
    """Sites of a part's multipliers: in ``rows`` (Y), four in each of ``groups`` (X of a group's first tile).

    Measured: nextpnr's own names of all of them, in a design that takes them all (tests/synth/test_floorplan.py).
    """

    rows: tuple[int, ...]
    groups: tuple[int, ...]

    @property
    def columns(self) -> tuple[tuple[int, int], ...]:
        """X and number within its tile of each site of a row, from left to right."""
        return tuple((left + index, index) for left in self.groups for index in (0, 1, 4, 5))

    def name(self, column: int, row: int) -> str:
        """nextpnr's name of the site in this column of this row, both counted from 0."""
        x, index = self.columns[column]
        return f"X{x}/Y{self.rows[row]}/MULT18_{index}"


@dataclass(frozen=True, kw_only=True)
class Target:
    """One part.

    ``synth`` is Yosys' command; ``place`` are the arguments of nextpnr-``family``, empty if there is no place and
    route, and ``placer`` is the placer to use. ``cells`` are the vendor cells (`systoliq.hw.cells`) that suit it best,
    ``other_cells`` are other suitable cells. ``capacity`` has the keys of a report: lut_sites, ff, dsp, ram; and pins,
    where ports are placed that fit them. ``multiplier_sites`` are those that a floorplan may give away. ``mhz`` is the
    frequency asked for, which sets how hard nextpnr tries, and how gates are sized and buffered. ``library`` are the
    standard cells of a process; ``after`` are commands of Yosys behind `synth`. ``clock_pin`` is the pin of the package
    that the clock comes in at, where nextpnr places nothing that has ports elsewhere: all others are left out.
    """

    name: str
    family: str
    title: str
    synth: str
    place: tuple[str, ...] = ()
    placer: str = ""
    cells: str = "portable"
    other_cells: tuple[str, ...] = ()
    capacity: Mapping[str, int] = field(default_factory=dict)
    multiplier_sites: MultiplierSites | None = None
    mhz: float = 0.0
    library: Cells | None = None
    after: tuple[str, ...] = ()
    clock_pin: str = ""

    @property
    def placed(self) -> tuple[str, ...]:
        """The arguments of nextpnr, the placer's among them."""
        return (*self.place, "--placer", self.placer) if self.placer else self.place


def _ecp5(size: int, luts: int, dsp: int, ram: int, sites: MultiplierSites) -> list[Target]:
    """Capacities: Lattice FPGA-DS-02012, ECP5 family, table 1.1. Speed 6 is the slowest grade and the default.

    The static placer (electrostatics) is as quick as nextpnr's default, as good on small designs and better on large:
    docs/measurements/silicon.md has figures of both.
    """
    targets = []
    flow = ("--package", "CABGA381", "--out-of-context")
    for speed in (6, 7, 8):
        name = f"ecp5-{size}k" + ("" if speed == 6 else f"-{speed}")
        targets.append(
            Target(
                name=name,
                family="ecp5",
                title=f"Lattice LFE5U-{size}F, speed {speed}, out of context",
                synth="synth_ecp5",
                place=(f"--{size}k", "--speed", str(speed), *flow),
                placer="static",
                cells="ecp5",
                other_cells=("ecp5-alu", "ecp5-pair", "ecp5-lut"),
                capacity={"lut_sites": luts, "ff": luts, "dsp": dsp, "ram": ram},
                multiplier_sites=sites,
                mhz=200.0,
            )
        )
    return targets


def _sites(*rows: int, groups: int, gap_before: int) -> MultiplierSites:
    """Groups stand 9 tiles apart, with two more (the clocks' column) before group `gap_before`."""
    lefts = (4 + 9 * group + 2 * (group >= gap_before) for group in range(groups))
    return MultiplierSites(rows=rows, groups=tuple(lefts))


def _gowin(name: str, title: str, family: str, device: str, clock_pin: str, capacity: Mapping[str, int]) -> Target:
    """A Gowin part; capacities as nextpnr reports them. Multipliers are counted in units of 9 x 9 bits: one of 18 x 18
    takes two.
    """
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


_ALL = [
    *_ecp5(25, 24288, 28, 56, _sites(13, groups=7, gap_before=3)),
    *_ecp5(45, 43848, 72, 108, _sites(22, 46, groups=9, gap_before=4)),
    *_ecp5(85, 83640, 156, 208, _sites(10, 34, 58, groups=13, gap_before=7)),
    Target(
        name="ice40-up5k",
        family="ice40",
        title="Lattice iCE40 UP5K, SG48",
        synth="synth_ice40",
        place=("--up5k", "--package", "sg48", "--pcf-allow-unconstrained"),
        cells="ice40",
        capacity={"lut_sites": 5280, "ff": 5280, "dsp": 8, "ram": 30, "pins": 39},
        mhz=24.0,
    ),
    Target(
        name="ice40-hx8k",
        family="ice40",
        title="Lattice iCE40 HX8K, CT256",
        synth="synth_ice40",
        place=("--hx8k", "--package", "ct256", "--pcf-allow-unconstrained"),
        capacity={"lut_sites": 7680, "ff": 7680, "dsp": 0, "ram": 32, "pins": 206},
        mhz=100.0,
    ),
    _gowin(
        "gowin-gw2a18",
        "Gowin GW2A-LV18, C8/I7, out of context (Tang Primer 20K)",
        "GW2A-18C",
        "GW2A-LV18PG256C8/I7",
        "H11",
        {"lut_sites": 20736, "ff": 15552, "dsp": 96, "ram": 46},
    ),
    _gowin(
        "gowin-gw1nr9",
        "Gowin GW1NR-LV9, C6/I5, out of context (Tang Nano 9K)",
        "GW1N-9C",
        "GW1NR-LV9QN88PC6/I5",
        "52",
        {"lut_sites": 8640, "ff": 6480, "dsp": 40, "ram": 26},
    ),
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
    Target(
        name="generic",
        family="generic",
        title="gates, or the standard cells of --liberty",
        synth="synth -flatten",
        mhz=100.0,
    ),
    Target(
        name="cmos4",
        family="generic",
        title="NAND, NOR, AOI and OAI gates of up to 4 inputs",
        synth="synth -flatten",
        after=("abc -g cmos4", "opt_clean -purge"),
    ),
    Target(
        name="osu018",
        family="generic",
        title="OSU's standard cells for 0.18 um, typical",
        synth="synth -flatten",
        mhz=300.0,
        library=Cells(
            path="/usr/share/qflow/tech/osu018/osu018_stdcells.lib", brings="apt-get install qflow-tech-osu018"
        ),
    ),
]

TARGETS: Mapping[str, Target] = {target.name: target for target in _ALL}


def open_target(name: str, what: str = "target") -> Target:
    """The target called `name`; ValueError, naming the argument `what`, if there is none."""
    if name not in TARGETS:
        raise ValueError(f"{what} must be one of {', '.join(TARGETS)}, not {name!r}")
    return TARGETS[name]
