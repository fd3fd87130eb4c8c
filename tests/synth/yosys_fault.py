"""A fault of Yosys that a page of docs reports: its design, synthesized and simulated."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from systoliq.synth.tools import find_yosys, yosys_share

__all__ = ["simulated"]

DOCS = Path(__file__).parents[2] / "docs"


def simulated(page: str, command: str, family: str, testbench: str, folder: Path) -> str:
    """What `testbench` prints with the netlist that Yosys' `command` makes of the Verilog in `page`, by Yosys' models
    of the `family`.
    """
    match = re.search(r"```verilog\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    assert match is not None
    (folder / "d.v").write_text(match[1])
    (folder / "tb.v").write_text(testbench)
    (folder / "s.ys").write_text("\n".join(["read_verilog d.v", f"{command} -top top", "write_verilog -noattr n.v"]))
    done = find_yosys().run("s.ys", cwd=folder)
    assert done.returncode == 0, done.stderr
    models = yosys_share() / family / "cells_sim.v"
    options = ["-g2012", "-DNO_ICE40_DEFAULT_ASSIGNMENTS", "-I", str(models.parent)]
    subprocess.run(["iverilog", *options, "-o", "t", "n.v", str(models), "tb.v"], cwd=folder, check=True)
    shown = subprocess.run(["vvp", "-n", "t"], cwd=folder, capture_output=True, text=True, check=True, timeout=60)
    return str(shown.stdout)
