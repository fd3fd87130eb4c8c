from .array import (
    ArrayDesign,
    ArrayOptions,
)
from .design import (
    Design,
)
from .dma_engine import (
    DmaEngineDesign,
)
from .engine import (
    EngineDesign,
    EngineOptions,
)
from .layer import (
    LayerDesign,
    LayerOptions,
)
from .network import (
    NetworkDesign,
    NetworkOptions,
)
from .simulated import (
    Simulated,
)
from .sources import (
    open_source,
)

__all__ = [
    "ArrayDesign",
    "ArrayOptions",
    "Design",
    "DmaEngineDesign",
    "EngineDesign",
    "EngineOptions",
    "LayerDesign",
    "LayerOptions",
    "NetworkDesign",
    "NetworkOptions",
    "Simulated",
    "open_source",
]
