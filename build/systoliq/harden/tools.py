"""Programs and cells of a layout: the Debian package of each, and an error that names the missing ones."""

from __future__ import annotations

import shutil
from pathlib import Path

from systoliq.sim.tools import ToolError

__all__ = ["CELLS", "PACKAGES", "TECHNOLOGY", "check_tools"]

TECHNOLOGY = "osu018"
CELLS = Path("/usr/share/qflow/tech/osu018")
"""The technology's files: cells as LEF, Liberty, SPICE and Verilog, and rules for Magic and Netgen."""

PACKAGES = {
    "qflow": "qflow",
    "yosys": "yosys",
    "graywolf": "graywolf",
    "qrouter": "qrouter",
    "magic": "magic",
    "netgen-lvs": "netgen-lvs",
}
"""Each program on PATH and the Debian package that brings it."""


def check_tools() -> None:
    """Raise a ToolError that names each missing program, and the command that installs all of them."""
    missing = {name: package for name, package in PACKAGES.items() if shutil.which(name) is None}
    if not (CELLS / "osu018_stdcells.lef").is_file():
        missing[str(CELLS)] = "qflow-tech-osu018"
    if missing:
        raise ToolError(
            f"a layout needs {', '.join(missing)}, not found here: apt-get install {' '.join(missing.values())}"
        )
