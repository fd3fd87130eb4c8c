from .design import (
    SelfFedEngineDesign,
)

__all__ = [
    "SelfFedEngineDesign",
]
