"""The synthesized netlist as Verilog sources that a simulator takes: the post-synthesis check."""

from __future__ import annotations

from pathlib import Path

from amaranth.lib import wiring

from systoliq.hw.cells import model_files
from systoliq.hw.verilog import emit_verilog

from .flow import synthesized
from .targets import open_target
from .tools import yosys_share

__all__ = ["NETLISTS", "netlist_sources"]

NETLISTS = {"ecp5": "ecp5-85k", "ice40": "ice40-up5k"}

# Yosys' own models; ours for the cells that it has as black boxes only.
_MODELS = {"ecp5": ("ecp5/cells_sim.v",), "ice40": ("ice40/cells_sim.v",)}


def netlist_sources(design: wiring.Component | str, name: str, family: str) -> list[str]:
    """Verilog texts that together are the netlist of `design` for `family`: it, and the models of its cells.

    `design` is a component or its Verilog; the top module is called `name` and has the same ports as before.
    """
    if family not in NETLISTS:
        raise ValueError(f"netlist must be one of {', '.join(NETLISTS)}, not {family!r}")
    verilog = design if isinstance(design, str) else emit_verilog(design, name)
    folder = synthesized(verilog, name, open_target(NETLISTS[family]))
    models = [_included(yosys_share() / path) for path in _MODELS[family]]
    ours = [path.read_text() for path in model_files(family) if path.name != "ccu2c.v"]  # Yosys' file has it too
    return [(folder / "netlist.v").read_text(), *models, *ours]


def _included(path: Path) -> str:
    """The file with what it includes in place: the simulators are given texts, not folders."""
    lines = []
    for line in path.read_text().splitlines():
        words = line.split()
        if words[:1] == ["`include"]:
            lines.append(_included(path.parent / Path(words[1].strip('"')).name))
        else:
            lines.append(line)
    return "\n".join(lines)
