from .design import (
    LayerDesign,
)
from .options import (
    LayerOptions,
)

__all__ = [
    "LayerDesign",
    "LayerOptions",
]
