from .design import (
    LayerDesign,
)

__all__ = [
    "LayerDesign",
]
