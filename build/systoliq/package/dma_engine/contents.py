"""The files of a DMA engine's package."""

from __future__ import annotations

from ...design.dma_engine.design import DmaEngineDesign
from ..engine.contents import engine_contents
from ..file import File
from .dma_register_map import dma_c_header, dma_markdown

__all__ = ["dma_engine_contents"]


def dma_engine_contents(design: DmaEngineDesign) -> dict[str, File]:
    """Return the engine's files, and the masters' registers for readers and for C."""
    return engine_contents(design) | {
        "dma_registers.md": ("the registers of the masters", dma_markdown().encode()),
        "systoliq_dma.h": ("the registers of the masters for C and C++", dma_c_header().encode()),
    }
