from .operator import (
    register_hardware,
)
from .report import (
    NetworkReport,
    StageReport,
)
from .session import (
    NetworkSession,
)

__all__ = [
    "NetworkReport",
    "NetworkSession",
    "StageReport",
    "register_hardware",
]
