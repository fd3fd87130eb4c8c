"""Simulation of the hardware: cocotb under Verilator or Icarus, compared with golden."""

from .process import SimulationError
from .results import Failure, Results
from .runner import SimulatorWarning, build
from .simulation import Simulation, SimulatorName
from .tools import Tool, ToolError

__all__ = [
    "Failure",
    "Results",
    "Simulation",
    "SimulationError",
    "SimulatorName",
    "SimulatorWarning",
    "Tool",
    "ToolError",
    "build",
]
