"""The dense layer as a design."""

from .design import LayerDesign

__all__ = ["LayerDesign"]
