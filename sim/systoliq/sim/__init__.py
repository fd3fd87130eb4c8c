"""Running the hardware: cocotb under Verilator or Icarus, compared with golden."""

from .process import SimulationError
from .runner import Failure, Results, Simulation, SimulatorName, SimulatorWarning, build
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
