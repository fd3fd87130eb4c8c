from .engine import (
    Engine,
    JobReport,
    OperationResult,
    QueueReport,
)
from .errors import (
    ENGINE_ERRORS,
    EngineError,
)

__all__ = [
    "ENGINE_ERRORS",
    "Engine",
    "EngineError",
    "JobReport",
    "OperationResult",
    "QueueReport",
]
