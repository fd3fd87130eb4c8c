from .array import (
    ArrayDesign,
)
from .design import (
    Design,
)
from .dma_engine import (
    DmaEngineDesign,
)
from .engine import (
    EngineDesign,
)
from .hardware import (
    Hardware,
)
from .layer import (
    LayerDesign,
)
from .network import (
    NetworkDesign,
)
from .simulated import (
    Simulated,
)
from .sources import (
    open_source,
)

__all__ = [
    "ArrayDesign",
    "Design",
    "DmaEngineDesign",
    "EngineDesign",
    "Hardware",
    "LayerDesign",
    "NetworkDesign",
    "Simulated",
    "open_source",
]
