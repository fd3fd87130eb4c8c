from .block import (
    ArrayBlock,
    Beats,
    Block,
    LayerBlock,
)
from .mismatch import (
    Mismatch,
)
from .process import (
    SimulationError,
)
from .results import (
    Failure,
    Results,
)
from .runner import (
    SimulatorWarning,
    build,
)
from .scoreboard import (
    Scoreboard,
    SumsScoreboard,
)
from .simulation import (
    Simulation,
    SimulatorName,
)
from .streams import (
    StreamMonitor,
    StreamSink,
    StreamSource,
    SumsMonitor,
)
from .tools import (
    Tool,
    ToolError,
)

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
