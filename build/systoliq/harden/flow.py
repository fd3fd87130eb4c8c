"""The flow to a layout: qflow's steps from Verilog to a routed DEF, then Magic and Netgen for GDS, DRC and LVS."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from systoliq.failed import FailedError
from systoliq.sim.process import limited, tail
from systoliq.subprocesses import run_child

from .tools import CELLS, TECHNOLOGY

__all__ = ["STEPS", "LayoutError", "Step", "check_routes", "lay_out"]


class LayoutError(FailedError):
    """A step of the flow did not write its file, or left nets without wires."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step: the `file` that it must write, with the top module's ``{name}``. It is qflow's step of the same name,
    or a `script` for Magic.
    """

    name: str
    title: str
    file: str
    script: str = ""


_READ = """\
lef read {cells}/osu018_stdcells.lef
load {name}
select top cell
expand
"""

# Pads without a wire, of open ports and of vias that qrouter left over, are smaller than the rules allow. The layout is
# extracted after that, with the options of qflow.
_REPAIR = (
    _READ
    + """\
drc on
drc check
drc catchup
select top cell
foreach {{why boxes}} [drc listall why] {{
  if {{[regexp {{^Metal(\\d) area}} $why -> layer]}} {{
    foreach each $boxes {{
      lassign $each left bottom right top
      box $left $bottom $right [expr {{$top + 2}}]
      paint m$layer
    }}
  }}
}}
writeall force {name}
drc off
extract all
ext2spice hierarchy on
ext2spice format ngspice
ext2spice scale off
ext2spice renumber off
ext2spice cthresh infinite
ext2spice rthresh infinite
ext2spice blackbox on
ext2spice subcircuit top auto
ext2spice global off
ext2spice
quit -noprompt
"""
)
_GDS = "drc off\n" + _READ + "gds write {name}\nquit -noprompt\n"

STEPS = (
    Step(name="synthesize", title="synthesis (Yosys)", file="{name}.blif"),
    Step(name="place", title="placement (graywolf)", file="{name}.pin"),
    Step(name="sta", title="timing before routing (vesta)", file="log/sta.log"),
    Step(name="route", title="routing (qrouter)", file="{name}.rc"),
    Step(name="backanno", title="timing with wires (vesta)", file="log/post_sta.log"),
    Step(name="migrate", title="layout of the routes (Magic)", file="{name}.mag"),
    Step(name="repair", title="least area of pads, extraction (Magic)", file="{name}.spice", script=_REPAIR),
    Step(name="drc", title="design rules (Magic)", file="log/drc.log"),
    Step(name="lvs", title="layout against netlist (Netgen)", file="comp.out"),
    Step(name="gds", title="GDS (Magic)", file="{name}.gds", script=_GDS),
)


def lay_out(
    name: str,
    folder: Path,
    *,
    density: float | None,
    fast: int,
    seconds: float,
    detail: Callable[[str], None],
) -> None:
    """Lay out the module `name` of ``source/NAME.v`` in `folder`, where all files of qflow stay. For the options, see
    `harden_package`.

    Raises
    ------
    LayoutError
        if a step does not write its file, does not end in `seconds`, or if nets are left without wires.
    """
    if density is not None:
        (folder / "project_vars.sh").write_text(f"set initial_density = {density:g}\n")
    parameters = (CELLS / "osu018.par").read_text()
    (folder / f"{name}.par").write_text(f"{parameters}TWSC*fast : {fast}\n" if fast > 1 else parameters)
    for step in STEPS:
        detail(step.title)
        command = ["qflow", step.name, "-T", TECHNOLOGY, name]
        if step.script:
            (folder / f"{step.name}.tcl").write_text(step.script.format(cells=CELLS, name=name))
            command = ["magic", "-dnull", "-noconsole", f"{step.name}.tcl"]
        said = _run(command, folder, step, seconds)
        written = folder / step.file.format(name=name)
        if not written.is_file() or written.stat().st_size == 0:
            raise LayoutError(f"{step.title} wrote no {written.name}: {tail(said, 3)}")
        if step.name == "route":
            check_routes(said)


def _run(command: Sequence[str], folder: Path, step: Step, seconds: float) -> str:
    """Run `command` in `folder` and return its output, which is also in ``log``."""
    environment = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "QFLOW_PROJECT_ROOT")}
    done = run_child(limited(command, seconds), text="", cwd=folder, stderr=subprocess.STDOUT, env=environment)
    if done.returncode < 0 or done.returncode in (128 + 9, 128 + 24):  # the signals of `ulimit -t`
        raise LayoutError(f"{step.title}: no end within {seconds:g} s of processor time; allow more with --seconds")
    (folder / "log").mkdir(exist_ok=True)
    (folder / "log" / f"{step.name}.out").write_text(done.stdout)
    return done.stdout


def check_routes(said: str) -> None:
    """Raise a LayoutError if the last line of qrouter's output `said` counts nets without wires, or is missing."""
    found = re.findall(r"^Final: (?:No failed routes|Failed net routes: (\d+))", said, re.MULTILINE)
    if not found:
        raise LayoutError(f"qrouter did not say whether all nets have wires: {tail(said, 3)}")
    if found[-1]:
        raise LayoutError(f"qrouter left {found[-1]} nets without wires: leave it more room with a lower --density")
