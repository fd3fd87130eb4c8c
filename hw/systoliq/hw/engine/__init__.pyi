from .axi_engine import (
    ADDRESS_BITS,
    AxiEngine,
    lane_slots,
)
from .config import (
    EngineConfig,
    JobShape,
)
from .core import (
    EngineCore,
)
from .registers import (
    COLUMN_TABLE,
    ERRORS,
    REGISTERS,
    ROW_TABLE,
)

__all__ = [
    "ADDRESS_BITS",
    "COLUMN_TABLE",
    "ERRORS",
    "REGISTERS",
    "ROW_TABLE",
    "AxiEngine",
    "EngineConfig",
    "EngineCore",
    "JobShape",
    "lane_slots",
]
