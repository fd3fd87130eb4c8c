"""A small design of each kind, with any cells."""

from __future__ import annotations

from systoliq.api import Design, DmaEngineDesign, EngineDesign, open_source
from systoliq.hw.engine import EngineConfig

__all__ = ["KINDS", "small"]

KINDS = ("layer", "array", "engine", "dma_engine")


def small(kind: str, cells: str = "portable", *, cols: int = 2) -> Design:
    """Two rows, two columns; a layer of several column tiles, unless ``cols`` is 10."""
    if kind == "engine":
        return EngineDesign(EngineConfig(rows=2, cols=cols, lanes=2, cells=cells))
    if kind == "dma_engine":
        return DmaEngineDesign(EngineConfig(rows=2, cols=cols, lanes=2 - cols % 2, cells=cells), bus=64)
    source = "array" if kind == "array" else "resnet8-fc"
    return open_source(source, {"rows": 2, "cols": cols, "depth": 2, "cells": cells})
