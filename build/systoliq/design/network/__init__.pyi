from .design import (
    NetworkDesign,
)
from .options import (
    NetworkOptions,
)

__all__ = [
    "NetworkDesign",
    "NetworkOptions",
]
