"""The synthesized netlist as Verilog sources that a simulator takes: the post-synthesis check."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from amaranth.lib import wiring

from systoliq.hw.cells import models
from systoliq.hw.verilog import emit_verilog

from ..errors import InputError
from .families import FAMILIES
from .flow import synthesized
from .targets import open_target
from .tools import yosys_share
from .yosys import RAMS, top_of

__all__ = ["NETLISTS", "netlist_sources"]

NETLISTS = {name: target for family in FAMILIES.values() for name, target in family.netlists.items()}
"""Families, and the target that represents each."""

# Yosys' own models, which precede the project's: the latter replace the cells that Yosys only has as black boxes. (Its
# DP16KD is one, although it is not marked as a black box.)
_MODELS = ("cells_sim.v", "common_sim.vh", "ccu2c_sim.vh")
_MODULE = re.compile(r"^module\s+\\?(\w+).*?^[ \t]*endmodule", re.MULTILINE | re.DOTALL)
# Definitions of the head of Yosys' iCE40 models for Verilog-2005: no defaults of inputs, registers start at 0.
_MACROS = """\
`define SB_DFF_INIT initial Q = 0;
`define SB_DFF_REG reg Q = 0
`define ICE40_DEFAULT_ASSIGNMENT_V(v)
`define ICE40_DEFAULT_ASSIGNMENT_0
`define ICE40_DEFAULT_ASSIGNMENT_1
"""
_NAME = re.compile(r"\w+")
_INCLUDE = re.compile(r'`include "([\w.]+)"')
_DOES = re.compile(r"\b(assign|always)\b|^\s+\w+ #\(", re.MULTILINE)  # or it has an instance that does


def netlist_sources(
    design: wiring.Component | str, name: str, family: str, *, progress: Callable[[str], None] | None = None
) -> list[str]:
    """Verilog texts that together are the netlist of `design` for `family`: it, and the models of its cells.

    `design` is a component or its Verilog; the top module is called `name` and has the same ports as before.

    Raises InputError if the netlist has memory blocks without a model.
    """
    if family not in NETLISTS:
        raise ValueError(f"netlist must be one of {', '.join(NETLISTS)}, not {family!r}")
    verilog = design if isinstance(design, str) else emit_verilog(design, name)
    target = open_target(NETLISTS[family])
    folder = synthesized(verilog, name, target, progress=progress)
    netlist = (folder / "netlist.v").read_text()
    known: dict[str, str] = {}
    for text in models().values():
        known |= _modules(text)
    for path in _model_files(target.family):
        modules = _modules(_whole(path))
        known |= {cell: text for cell, text in modules.items() if cell not in known or _DOES.search(text)}
    used = {cell["type"] for cell in top_of(folder)["cells"].values()} & set(RAMS)
    if unknown := sorted(kind for kind in used if not _DOES.search(known.get(kind, ""))):
        raise InputError(
            f"netlist must be of a design without block RAM for {family}: there is no model of {', '.join(unknown)}"
        )
    return [netlist, _MACROS + "".join(_needed(netlist, known))]


def _model_files(family: str) -> list[Path]:
    """Yosys' files with models of a family's cells."""
    if models := FAMILIES[family].models:
        return [yosys_share() / models]
    return sorted(path for path in (yosys_share() / family).iterdir() if path.name in _MODELS)


def _whole(path: Path) -> str:
    """The text of a file with the text of the files that it includes from its folder."""

    def included(match: re.Match[str]) -> str:
        file = path.parent / match[1]
        return file.read_text() if file.is_file() else match[0]

    return _INCLUDE.sub(included, path.read_text())


def _modules(text: str) -> dict[str, str]:
    """The modules of a Verilog file, by name."""
    return {match[1]: match[0] + "\n" for match in _MODULE.finditer(text)}


def _needed(text: str, known: dict[str, str]) -> list[str]:
    """The known modules that `text` instantiates, and those that they do: the rest need not suit the simulator."""
    found: dict[str, str] = {}
    texts = [text]
    while texts:
        for name in set(_NAME.findall(texts.pop())):
            if name in known and name not in found:
                found[name] = known[name]
                texts.append(known[name])
    return [found[name] for name in sorted(found)]
