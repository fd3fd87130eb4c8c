from .flow import (
    Block,
    DoesNotFitError,
    SynthesisError,
    synthesize,
)
from .netlist import (
    NETLISTS,
    netlist_sources,
)
from .report import (
    CriticalPath,
    SynthReport,
)
from .targets import (
    TARGETS,
    Target,
    open_target,
)

__all__ = [
    "NETLISTS",
    "TARGETS",
    "Block",
    "CriticalPath",
    "DoesNotFitError",
    "SynthReport",
    "SynthesisError",
    "Target",
    "netlist_sources",
    "open_target",
    "synthesize",
]
