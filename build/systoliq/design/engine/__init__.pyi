from .design import (
    EngineDesign,
)

__all__ = [
    "EngineDesign",
]
