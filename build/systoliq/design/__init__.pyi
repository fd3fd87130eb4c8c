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
    "open_source",
]
