"""OpenSTA: the slowest way from register to register in a netlist of standard cells, before layout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from systoliq.subprocesses import run_child

from ..errors import SynthesisError
from .report import CriticalPath
from .standard_cells import CELLS
from .tools import Command

__all__ = ["BRINGS", "TIMED", "find_sta", "slowest_path"]

TIMED = "timing.v"
"""The netlist as OpenSTA reads it: no expressions, no ports of several bits."""

BRINGS = "apt-get install opensta"
_SECONDS = 600
_PERIOD = 1000  # of the library's time units: longer than any path
_SCRIPT = """\
read_liberty {cells}
read_verilog {netlist}
link_design {name}
create_clock -name clk -period {period} clk
set path [lindex [find_timing_paths -from [all_registers -clock_pins] -to [all_registers -data_pins]] 0]
foreach which {{startpoint endpoint}} {{
  set cell [get_cells -of_objects [get_property $path $which]]
  foreach pin [get_pins -of_objects $cell] {{
    if {{[get_property $pin direction] eq "output"}} {{ puts "$which [get_full_name [get_nets -of_objects $pin]]" }}
  }}
}}
puts "slack [get_property $path slack]"
report_checks -from [all_registers -clock_pins] -to [all_registers -data_pins] -digits 4
"""
_UNITS = {"1ps": 0.001, "10ps": 0.01, "100ps": 0.1, "1ns": 1.0}


def find_sta() -> Command | None:
    """OpenSTA, where it is on PATH."""
    path = shutil.which("sta")
    if path is None:
        return None
    version = run_child([path, "-version"], timeout=_SECONDS).stdout.strip()
    return Command(argv=(path, "-exit"), version=f"OpenSTA {version}")


def slowest_path(sta: Command, name: str, folder: Path) -> CriticalPath:
    """The slowest path of the netlist `TIMED` with the cells `CELLS` in `folder`; the clock has no skew.

    Raises
    ------
    SynthesisError
        where OpenSTA fails, or finds no path from register to register.
    """
    script = _SCRIPT.format(cells=CELLS, netlist=TIMED, name=name, period=_PERIOD)
    (folder / "sta.tcl").write_text(script)
    environment = dict(os.environ) | {"HOME": str(folder)}  # no .sta of the user's
    try:
        done = run_child([*sta.argv, "sta.tcl"], cwd=folder, env=environment, timeout=_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise SynthesisError(f"OpenSTA took more than {_SECONDS} s on {name}") from error
    said = done.stdout + done.stderr
    ends = dict(re.findall(r"^(startpoint|endpoint) (.*)$", said, re.MULTILINE))
    slack = re.search(r"^\s*(-?[\d.]+)\s+slack \((?:MET|VIOLATED)\)", said, re.MULTILINE)
    if slack is None or len(ends) < 2:
        errors = [line for line in said.splitlines() if line.startswith("Error")]
        raise SynthesisError(f"OpenSTA found no path in {name}: {errors[0] if errors else 'it has no timing'}")
    return CriticalPath(
        start=ends["startpoint"],
        end=ends["endpoint"],
        blocks=(),
        nanoseconds=round((_PERIOD - float(slack[1])) * _unit(folder), 3),
        routing_nanoseconds=0.0,
        levels=len(re.findall(r"^.*[\^v] \S+/\S+ \(\S+\)$", said, re.MULTILINE)) - 2,
    )


def _unit(folder: Path) -> float:
    """Nanoseconds of the library's time unit."""
    text = (folder / CELLS).read_text(errors="replace")
    found = re.search(r"\btime_unit\s*:\s*\"?\s*(\d+[pn]s)", text)
    return _UNITS[found[1]] if found else 1.0
