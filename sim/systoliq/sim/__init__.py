"""Simulation of the hardware: cocotb under Verilator or Icarus, compared with golden; and parts for benches of others.

Names are imported when they are asked for: the parts that run inside a simulator do not wait for Amaranth, which those
that build one need.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from systoliq.moved import announce

if TYPE_CHECKING:
    from .block import ArrayBlock, Beats, Block, LayerBlock
    from .mismatch import Mismatch
    from .process import SimulationError
    from .results import Failure, Results
    from .runner import SimulatorWarning, build
    from .scoreboard import Scoreboard, SumsScoreboard
    from .simulation import Simulation, SimulatorName
    from .streams import StreamMonitor, StreamSink, StreamSource, SumsMonitor
    from .tools import Tool, ToolError

__all__ = [
    "ArrayBlock",
    "Beats",
    "Block",
    "Failure",
    "LayerBlock",
    "Mismatch",
    "Results",
    "Scoreboard",
    "Simulation",
    "SimulationError",
    "SimulatorName",
    "SimulatorWarning",
    "StreamMonitor",
    "StreamSink",
    "StreamSource",
    "SumsMonitor",
    "SumsScoreboard",
    "Tool",
    "ToolError",
    "build",
]

_MODULES = {
    "block": ("ArrayBlock", "Beats", "Block", "LayerBlock"),
    "process": ("SimulationError",),
    "mismatch": ("Mismatch",),
    "results": ("Failure", "Results"),
    "runner": ("SimulatorWarning", "build"),
    "scoreboard": ("Scoreboard", "SumsScoreboard"),
    "simulation": ("Simulation", "SimulatorName"),
    "streams": ("StreamMonitor", "StreamSink", "StreamSource", "SumsMonitor"),
    "tools": ("Tool", "ToolError"),
}


def __getattr__(name: str) -> object:
    """The name, from the module that has it."""
    for module, names in _MODULES.items():
        if name in names:
            value = getattr(import_module(f".{module}", __name__), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


announce(
    {
        "systoliq.sim.engine.driver": "systoliq.hw.engine.host",
        "systoliq.sim.engine.layout": "systoliq.hw.engine.host.EnginePacking",
        "systoliq.sim.engine.plan": "systoliq.hw.engine.host",
        "systoliq.sim.layout": "systoliq.hw.packing",
        "systoliq.sim.plan": "systoliq.sim.exchange",
    }
)
