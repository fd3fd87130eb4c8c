"""The files that only one kind of design has in its package: vectors, sources, plans, register maps."""

from __future__ import annotations

from functools import singledispatch

from ..design.array.design import ArrayDesign
from ..design.design import Design
from ..design.dma_engine.design import DmaEngineDesign
from ..design.engine.design import EngineDesign
from ..design.layer.design import LayerDesign
from ..design.network.design import NetworkDesign
from .array.contents import array_contents
from .dma_engine.contents import dma_engine_contents
from .engine.contents import engine_contents
from .file import File
from .layer.contents import layer_contents
from .network.contents import network_contents

__all__ = ["contents_of"]


@singledispatch
def contents_of(design: Design) -> dict[str, File]:
    """Return the package's files except Verilog, models, testbench, waivers, sidecar and certificate."""
    raise TypeError(f"design must be a Design with a package, not {type(design).__name__}")


contents_of.register(ArrayDesign, array_contents)
contents_of.register(LayerDesign, layer_contents)
contents_of.register(NetworkDesign, network_contents)
contents_of.register(EngineDesign, engine_contents)
contents_of.register(DmaEngineDesign, dma_engine_contents)
