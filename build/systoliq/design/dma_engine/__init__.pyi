from .design import (
    DmaEngineDesign,
)

__all__ = [
    "DmaEngineDesign",
]
