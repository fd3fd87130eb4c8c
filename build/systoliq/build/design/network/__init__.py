"""Whole networks as designs."""

from .design import NetworkDesign

__all__ = ["NetworkDesign"]
