"""The engine that feeds itself as a design."""

from .design import SelfFedEngineDesign

__all__ = ["SelfFedEngineDesign"]
