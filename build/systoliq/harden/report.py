"""Figures of a layout, read from the files of its tools."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .extracted import cells_of
from .flow import LayoutError
from .layout import Layout

__all__ = ["Hardened", "drc_errors", "lvs_matches", "read_figures"]


@dataclass(frozen=True, kw_only=True)
class Hardened:
    """A layout, as the tools report it.

    ``cells`` counts instances by kind, fillers apart. ``area`` is the outline's and ``cell_area`` is the area of the
    cells without fillers, both in square micrometres; ``wire_length`` is in micrometres. ``mhz_placed`` is the clock
    before routing and ``mhz`` with the resistance and capacitance of the wires, both by vesta, register to register,
    in the typical corner. ``drc_errors`` is Magic's count. ``lvs`` says whether Netgen finds the layout's netlist equal
    to the synthesized one. ``testbench`` is the line that the package's testbench printed with the netlist that was
    extracted from the layout.
    """

    name: str
    cells: dict[str, int]
    registers: int
    area: float
    cell_area: float
    wire_length: float
    mhz_placed: float
    mhz: float
    critical_path: str
    drc_errors: int
    lvs: bool
    testbench: str = ""

    @property
    def clean(self) -> bool:
        """True if DRC and LVS found nothing and the testbench passed."""
        return self.drc_errors == 0 and self.lvs and self.testbench.startswith("PASS")

    @property
    def density(self) -> float:
        """Share of the outline that the cells take."""
        return self.cell_area / self.area

    def as_json(self) -> dict[str, Any]:
        """Return all figures, with ``clean`` and ``density``."""
        return dataclasses.asdict(self) | {"density": round(self.density, 3), "clean": self.clean}


def read_figures(folder: Path, name: str, layout: Layout, sizes: Mapping[str, tuple[float, float]]) -> Hardened:
    """Return the figures of the module `name` in qflow's project `folder`, with its `layout` and the `sizes` of cells.

    Raises
    ------
    LayoutError
        if a file lacks one of the figures.
    """
    cells = cells_of((folder / f"{name}.spice").read_text())
    cells = {kind: count for kind, count in cells.items() if kind != "FILL"}
    timing = _log(folder, "post_sta")
    return Hardened(
        name=name,
        cells=cells,
        registers=sum(count for kind, count in cells.items() if kind.startswith("DFF")),
        area=round(layout.area, 1),
        cell_area=round(sum(sizes[kind][0] * sizes[kind][1] * count for kind, count in cells.items()), 1),
        wire_length=round(layout.wire_length, 1),
        mhz_placed=_clock(_log(folder, "sta")),
        mhz=_clock(timing),
        critical_path=_found(r"Path (\S+ to \S+ delay [\d.]+ ps)", timing, "the slowest path"),
        drc_errors=drc_errors(folder),
        lvs=lvs_matches(folder),
    )


def drc_errors(folder: Path) -> int:
    """Return Magic's count of design-rule errors in qflow's project `folder`."""
    return int(_found(r"^drc = (\d+)", _log(folder, "drc"), "a number of DRC errors"))


def lvs_matches(folder: Path) -> bool:
    """Return whether Netgen found the netlists equal in qflow's project `folder`."""
    text = _log(folder, "lvs")
    return bool(re.search(r"^Result: Circuits match uniquely\.", text, re.MULTILINE)) and "Total errors = 0" in text


def _log(folder: Path, step: str) -> str:
    return (folder / "log" / f"{step}.log").read_text(errors="replace")


def _clock(text: str) -> float:
    return round(float(_found(r"maximum clock frequency \(zero margin\) = ([\d.]+) MHz", text, "a clock")), 1)


def _found(pattern: str, text: str, what: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        raise LayoutError(f"the logs of qflow must state {what}, and do not")
    return found[1]
