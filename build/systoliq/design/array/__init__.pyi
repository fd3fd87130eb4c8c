from .design import (
    ArrayDesign,
)

__all__ = [
    "ArrayDesign",
]
