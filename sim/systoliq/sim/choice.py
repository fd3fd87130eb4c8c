"""Choice of the simulator that ends a run sooner, its build included."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from .simulation import SimulatorName
from .tools import SIMULATOR_TOOLS, find

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
    found = {name: all(find(tool).found for tool in tools) for name, tools in SIMULATOR_TOOLS.items()}
    if found["verilator"] == found["icarus"]:
        return "icarus" if cycles <= _CYCLES else "verilator"
    return "icarus" if found["icarus"] else "verilator"


def chosen_for_engine(simulator: SimulatorChoice) -> SimulatorName:
    """Return `simulator`, or Verilator for "auto": engines run many cycles, and one build serves all operations."""
    return "verilator" if simulator == "auto" else simulator
