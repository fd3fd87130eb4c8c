"""The programmable engine as a design."""

from .design import EngineDesign

__all__ = ["EngineDesign"]
