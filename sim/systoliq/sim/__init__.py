"""Simulation of the hardware: cocotb under Verilator or Icarus, compared with golden."""

from systoliq.moved import announce

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

announce(
    {
        "systoliq.sim.engine.driver": "systoliq.hw.engine.host",
        "systoliq.sim.engine.layout": "systoliq.hw.engine.host.EnginePacking",
        "systoliq.sim.engine.plan": "systoliq.hw.engine.host",
        "systoliq.sim.layout": "systoliq.hw.packing",
        "systoliq.sim.plan": "systoliq.sim.exchange",
    }
)
