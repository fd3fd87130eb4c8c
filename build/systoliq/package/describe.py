"""The description of a design in its sidecar, whatever its kind."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from ..design.array.design import ArrayDesign
from ..design.design import Design
from ..design.dma_engine.design import DmaEngineDesign
from ..design.engine.design import EngineDesign
from ..design.layer.design import LayerDesign
from ..design.network.design import NetworkDesign
from .array.describe import describe_array
from .dma_engine.describe import describe_dma_engine
from .engine.describe import describe_engine
from .layer.describe import describe_layer
from .network.describe import describe_network

__all__ = ["describe"]


@singledispatch
def describe(design: Design) -> dict[str, Any]:
    """Return the sidecar's content that depends on the kind, ready for JSON: packing, latency, cycle model, parameters.

    The sidecar itself adds ports, options and versions.
    """
    raise TypeError(f"design must be a Design with a package, not {type(design).__name__}")


describe.register(ArrayDesign, describe_array)
describe.register(LayerDesign, describe_layer)
describe.register(NetworkDesign, describe_network)
describe.register(EngineDesign, describe_engine)
describe.register(DmaEngineDesign, describe_dma_engine)
