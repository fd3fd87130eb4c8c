"""The lint command in a package's .vlt file: Verilator finds nothing, whatever the cells."""

from __future__ import annotations

import re
import subprocess

import pytest

from systoliq.hw.cells import CELLS
from systoliq.package import write_package
from systoliq.sim.tools import require

from .kinds import KINDS, small

_QUICK = ("portable", "ecp5")


@pytest.mark.sampled(99)
@pytest.mark.parametrize(
    ("kind", "cells"),
    [pytest.param(kind, cells, marks=() if cells in _QUICK else pytest.mark.slow) for kind in KINDS for cells in CELLS],
)
def test_the_command_in_the_waivers_finds_nothing(kind: str, cells: str, tmp_path) -> None:
    tool = require("verilator")
    design = small(kind, cells)
    write_package(design, tmp_path)
    (command,) = re.findall(r"finds nothing: verilator (.*)", (tmp_path / f"{design.name}.vlt").read_text())
    lint = subprocess.run(
        [str(tool.path), *command.split()],
        cwd=tmp_path,
        env=tool.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (lint.returncode, lint.stderr) == (0, "")
    assert "%" not in lint.stdout
