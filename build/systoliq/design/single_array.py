"""Designs with one array."""

from __future__ import annotations

from systoliq.hw import ArrayConfig
from systoliq.hw.engine import EngineConfig

from .design import Design

__all__ = ["SingleArrayDesign"]


class SingleArrayDesign(Design):
    """A design with one array, of the size, the formats and the cells of its `config`."""

    config: ArrayConfig | EngineConfig

    @property
    def cells(self) -> str:
        """Cells of the array, and of lanes and memories."""
        return self.config.cells

    @property
    def macs_per_cycle(self) -> int:
        """Multiply-accumulates of the array per cycle; an engine's row and column of ones do not count."""
        return self.config.macs_per_cycle
