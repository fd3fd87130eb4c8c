"""The bare array as a design."""

from .design import ArrayDesign

__all__ = ["ArrayDesign"]
