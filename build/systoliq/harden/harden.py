"""Layout of a package: its files, its figures, and the package's testbench on its netlist."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path

from systoliq.sim.process import SimulationError
from systoliq.sim.tools import require

from ..errors import InputError
from ..files import json_bytes, write_file
from ..signoff.files import PackageFiles, package_files
from ..signoff.runs import under_icarus
from .extracted import verilog_of
from .flow import lay_out
from .layout import read_layout, sizes_of
from .picture import layout_png
from .report import Hardened, read_figures
from .tools import CELLS, check_tools

__all__ = ["harden_package"]

_KEPT = ("{name}.gds", "{name}.def", "{name}.lef", "{name}.spice", "{name}.sdf")
_REPORTS = {"drc.log": "drc.txt", "lvs.log": "lvs.txt", "post_sta.log": "timing.txt"}


def harden_package(
    directory: Path,
    out: Path,
    *,
    density: float | None = None,
    fast: int = 1,
    seconds: float = 3600,
    detail: Callable[[str], None] = lambda _: None,
) -> Hardened:
    """Lay out the package in `directory` with OSU018 and return the figures; the files are in `out`.

    `out` holds the layout (GDS, DEF, LEF), the extracted netlist (SPICE, and NAME_layout.v of cells), delays (SDF),
    reports of DRC, LVS and timing, a picture and harden.json. Its folder qflow is qflow's project, which stays if a
    step fails.

    Parameters
    ----------
    density
        share of the rows that cells take (default: as dense as graywolf places them).
    fast
        factor by which graywolf anneals for a shorter time, at the cost of longer wires.
    seconds
        limit of processor time of each step.
    detail
        called with the title of each step.

    Raises
    ------
    InputError
        if `directory` is no package, if its cells are an FPGA's, or if `out` is not empty.
    ToolError
        if a program or the cells are missing.
    LayoutError
        if a step fails.
    """
    files = package_files(directory)
    if files.models:
        raise InputError(f"{directory}: the cells must be portable for a layout, not {files.sidecar.get('cells')}")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"--out must be a new or empty folder, not {str(out)!r}")
    check_tools()
    require("icarus")
    project = out / "qflow"
    (project / "source").mkdir(parents=True)
    shutil.copy(files.verilog, project / "source" / f"{files.name}.v")
    files.copy_memories(project / "source")
    lay_out(files.name, project, density=density, fast=fast, seconds=seconds, detail=detail)
    layout = read_layout((project / f"{files.name}.def").read_text())
    sizes = sizes_of((CELLS / "osu018_stdcells.lef").read_text())
    figures = read_figures(project, files.name, layout, sizes)
    extracted = verilog_of((project / f"{files.name}.spice").read_text(), files.name, files.sidecar["ports"])
    detail("the testbench on the extracted netlist (Icarus)")
    figures = dataclasses.replace(figures, testbench=_simulated(files, extracted, seconds))
    _write(project, out, figures, extracted, layout_png(layout, sizes))
    return figures


def _simulated(files: PackageFiles, extracted: str, seconds: float) -> str:
    """The line that the testbench prints, or why it does not pass."""
    cells = (CELLS / "osu018_stdcells.v").read_text()
    try:
        return under_icarus(files, f"{extracted}\n{cells}", seconds)
    except SimulationError as error:
        return str(error)


def _write(project: Path, out: Path, figures: Hardened, extracted: str, picture: bytes) -> None:
    name = figures.name
    for file in _KEPT:
        shutil.copy(project / file.format(name=name), out)
    for log, report in _REPORTS.items():
        shutil.copy(project / "log" / log, out / report)
    write_file(out / f"{name}_layout.v", extracted.encode())
    write_file(out / f"{name}.png", picture)
    write_file(out / "harden.json", json_bytes(figures.as_json()))
