from .design import (
    EngineDesign,
)
from .options import (
    EngineOptions,
)

__all__ = [
    "EngineDesign",
    "EngineOptions",
]
