"""Target: a part that designs are synthesized for, with its tools' arguments and how much there is on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["CLOCK_PIN_FILE", "BlockSites", "StandardCells", "Target"]

CLOCK_PIN_FILE = "clock.cst"
"""For Gowin parts: the file with the place of the clock's pin."""


@dataclass(frozen=True, kw_only=True)
class StandardCells:
    """Standard cells: where a Liberty file is once the command `brings` put it there."""

    path: str
    brings: str


@dataclass(frozen=True, kw_only=True)
class BlockSites:
    """Sites of a part's multipliers, in ``rows`` (Y), and memory blocks, in ``memory_rows``: in each row, four in each
    of ``groups`` (X of a group's first tile).

    Measured: nextpnr's own names of all of them, in a design that takes them all (tests/synth/test_floorplan.py).
    """

    rows: tuple[int, ...]
    memory_rows: tuple[int, ...]
    groups: tuple[int, ...]

    @property
    def columns(self) -> tuple[tuple[int, int], ...]:
        """X and number within its tile of each multiplier's site of a row, from left to right."""
        return tuple((left + index, index) for left in self.groups for index in (0, 1, 4, 5))

    def name(self, column: int, row: int) -> str:
        """nextpnr's name of the multiplier's site in this column of this row, both counted from 0."""
        x, index = self.columns[column]
        return f"X{x}/Y{self.rows[row]}/MULT18_{index}"

    @property
    def memories(self) -> dict[tuple[int, int], str]:
        """nextpnr's names of the memory blocks' sites, by X and Y."""
        return {
            (left + 2 * index, y): f"X{left + 2 * index}/Y{y}/EBR{index}"
            for left in self.groups
            for index in range(4)
            for y in self.memory_rows
        }


@dataclass(frozen=True, kw_only=True)
class Target:
    """A part.

    ``synth`` is Yosys' command; ``place`` are the arguments of nextpnr-``family``, empty if there is no place and
    route, and ``placer`` is the placer to use. ``cells`` are the vendor cells (`systoliq.hw.cells`) that suit it best,
    ``other_cells`` are other suitable cells. ``capacity`` has the keys of a report: lut_sites, ff, dsp, ram; and pins,
    where ports are placed that fit them. ``block_sites`` are those that a floorplan may give away. ``mhz`` is the
    frequency asked for, which sets how hard nextpnr tries, and how gates are sized and buffered. A seed is given up
    after ``minutes`` of place and route. ``library`` are the
    standard cells of a process; ``before`` and ``after`` are commands of Yosys around `synth`. ``wire`` is the delay of
    a wire that Yosys reckons with, in picoseconds, in the place of its own figure. ``clock_pin`` is the
    pin of the package that the clock comes in at, where nextpnr places nothing that has ports elsewhere: all others are
    left out. ``without_ports``: all ports are left out for place and route, and no pin drives the clock.
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
    block_sites: BlockSites | None = None
    mhz: float = 0.0
    minutes: float = 120.0
    library: StandardCells | None = None
    wire: int = 0
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    clock_pin: str = ""
    without_ports: bool = False

    @property
    def placed(self) -> tuple[str, ...]:
        """The arguments of nextpnr, the placer's among them."""
        return (*self.place, "--placer", self.placer) if self.placer else self.place
