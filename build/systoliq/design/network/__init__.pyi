from .design import (
    NetworkDesign,
)

__all__ = [
    "NetworkDesign",
]
