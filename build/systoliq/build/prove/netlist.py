"""From a harness to what the solvers read, by Yosys: SMT-LIB functions of one clock cycle, or an AIGER file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["TOP", "Netlist"]

TOP = "harness"

# Memories become registers; every register a plain one with its enable and reset as logic before it.
_FLATTEN = (
    "hierarchy -check -top {top}",
    "proc",
    "flatten",
    "memory_map",
    "async2sync",
    "opt_expr",  # memories of one word leave comparisons of no bits, which the back ends refuse
    "opt_clean",  # no more: `opt` trips over registers that hold constants, and the solvers simplify by themselves
    "setundef -undriven -anyseq",  # what is undefined may be anything, in every cycle anew
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
    """The flat netlist of a harness, held by Yosys, as emitted by the same code that writes the Verilog package."""

    def __init__(self, harness: Any, folder: Path) -> None:
        # Not at the top: systoliq works without Yosys' library, and a bug is seeded before the hardware is imported.
        from pyosys import libyosys

        from systoliq.hw.hierarchy import Emission

        self._yosys = libyosys
        self._folder = folder
        source = folder / "harness.il"
        # Amaranth takes $anyconst for a name of the user's; Yosys wants its own.
        source.write_text(Emission(TOP).rtlil(harness, TOP).replace(r"cell \$any", "cell $any"))
        self._design = libyosys.Design()
        self._run(f"read_rtlil {source}", *(command.format(top=TOP) for command in _FLATTEN))

    def _run(self, *commands: str) -> None:
        for command in commands:
            self._yosys.run_pass(f"tee -q {command}", self._design)

    def smt(self) -> str:
        """SMT-LIB functions of the state: outputs, next state, claims, conditions."""
        file = self._folder / "harness.smt2"
        self._run("design -push-copy", *(command.format(file=file) for command in _TO_SMT), "design -pop")
        return file.read_text()

    def aiger(self) -> Path:
        """And-inverter graph: one output per claim, 1 where it is false."""
        file = self._folder / "harness.aig"
        self._run("design -push-copy", *(command.format(file=file) for command in _TO_AIGER), "design -pop")
        return file
