"""A harness in the solvers' formats, written by Yosys: SMT-LIB functions of one clock cycle, or an AIGER file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

__all__ = ["CELLS", "TOP", "Netlist", "definition"]

TOP = "harness"
CELLS = "cells.v"
"""The file of the cells' models; Yosys notes it as the origin of their assertions."""

_SOURCE = re.compile(r"^ *attribute \\src .*\n", re.MULTILINE)

# Memories become registers; every register a plain one with its enable and reset as logic before it.
_FLATTEN = (
    "hierarchy -check -top {top}",
    "proc",
    "flatten",
    "memory_map",
    "async2sync",
    "setundef -undriven -anyseq",  # undefined values may differ from cycle to cycle
    "opt_expr",  # memories of one word leave comparisons of no bits, which the back ends refuse
    "opt_clean",  # no more: `opt` trips over registers that hold constants, and the solvers simplify by themselves
)
_TO_SMT = ("dffunmap", "opt_clean", "write_smt2 -wires {file}")
_TO_AIGER = (
    "chformal -cover -remove",
    "opt_clean",
    "techmap",
    "dffunmap",
    "aigmap",
    "write_aiger -I -B -zinit -no-startoffset {file}",
)


class Netlist:
    """The flat netlist of a harness, held by Yosys, as emitted by the same code that writes the Verilog package.

    `content` is all that it is made of, without the places in the source that emitted it.
    """

    def __init__(self, harness: Any, folder: Path) -> None:
        # Not at the top: systoliq works without Yosys' library, and a bug is seeded before the hardware is imported.
        from pyosys import libyosys

        from systoliq.hw.cells import models
        from systoliq.hw.hierarchy import Emission

        self._yosys = libyosys
        self._folder = folder
        # Amaranth takes $anyconst for a name of the user's; Yosys wants its own.
        text = Emission(TOP).rtlil(harness, TOP).replace(r"cell \$any", "cell $any")
        source, cells = folder / "harness.il", folder / CELLS
        source.write_text(text)
        used = [model for name, model in models().items() if re.search(rf"\bcell \\{name}\b", text)]
        cells.write_text("\n".join(definition(model) for model in used))
        self.content = _SOURCE.sub("", text) + cells.read_text()
        self._design = libyosys.Design()
        self._run(
            f"read_verilog -formal -defer {cells}",  # deferred: read anew for the parameters of each cell
            f"read_rtlil {source}",
            *(command.format(top=TOP) for command in _FLATTEN),
        )

    def _run(self, *commands: str) -> None:
        for command in commands:
            self._yosys.run_pass(f"tee -q {command}", self._design)

    def smt(self) -> str:
        """SMT-LIB functions of the state: outputs, next state, claims, conditions."""
        file = self._folder / "harness.smt2"
        self._run("design -push-copy", *(command.format(file=file) for command in _TO_SMT), "design -pop")
        return file.read_text()

    def aiger(self) -> Path:
        """And-inverter graph with one output per claim, which is 1 if the claim is false."""
        file = self._folder / "harness.aig"
        self._run("design -push-copy", *(command.format(file=file) for command in _TO_AIGER), "design -pop")
        return file


# A model stops the simulation in a mode that it does not have: when it starts, at an edge, or among its registers.
_AT_START_OR_FALLING = re.compile(
    r"\b(?:initial|always @\(negedge \w+\))(\s+(?:begin\s+)?if [^;]*?\bbegin\s+\$finish;)"
)


def definition(model: str) -> str:
    """A simulation model as the definition of its cell: where it would stop the simulation, it claims never to get
    there.

    Its conditions on parameters and inputs at the start of a simulation apply in every cycle. No value is unknown;
    where the model returns an unknown value, the proof allows any. Other statements for simulation only are rejected.
    """
    text = re.sub(r"//.*", "", model)
    text = re.sub(r'\$display\((?:"[^"]*"|[^";])*\);\s*', "", text)
    text = _AT_START_OR_FALLING.sub(r"always @*\1", text).replace("$finish;", "assert (0);")
    text = re.sub(r"===\s*1'b[xz]", "< 1'b0", text)  # never true of a bit, and binds no weaker
    text = re.sub(r"!==\s*1'b[xz]", ">= 1'b0", text)
    if found := re.search(r"\binitial\b|\bnegedge\b|\$(?!signed\b|unsigned\b)\w+|[!=]==\s*\S*[xz]\b|#\s*\d", text):
        raise ValueError(f"the model of a cell must not hold {found[0]!r}, which means nothing but in a simulation")
    return text
