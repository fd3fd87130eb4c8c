from .design import (
    ArrayDesign,
)
from .options import (
    ArrayOptions,
)

__all__ = [
    "ArrayDesign",
    "ArrayOptions",
]
