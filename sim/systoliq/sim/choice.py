"""Choice of the simulator that ends a run sooner, its build included."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from .simulation import SimulatorName
from .tools import installed_simulators

__all__ = ["SimulatorChoice", "chosen", "chosen_for_engine"]

SimulatorChoice = SimulatorName | Literal["auto"]

_CYCLES = 30_000
"""Cycles up to which Icarus takes less processor time, of any design.

Verilator compiles for 50 microseconds a character of Verilog, after which a cycle costs next to nothing; Icarus takes
about one nanosecond for a character in each cycle. docs/measurements/performance.md has the figures.
"""


def chosen(simulator: SimulatorChoice, cycles: int, waves: Path | None = None) -> SimulatorName:
    """Return `simulator`, or for "auto" the one that ends sooner with a run of `cycles`.

    A simulator that is not installed is not selected if the other one is; a trace `.fst` needs Icarus.
    """
    if simulator != "auto":
        return simulator
    if waves is not None and waves.suffix == ".fst":
        return "icarus"
    found = installed_simulators()
    if len(found) == 1:
        return "icarus" if found == ["icarus"] else "verilator"
    return "icarus" if cycles <= _CYCLES else "verilator"


def chosen_for_engine(simulator: SimulatorChoice) -> SimulatorName:
    """Return `simulator`, or Verilator for "auto": engines run many cycles, and one build serves all operations."""
    return "verilator" if simulator == "auto" else simulator
