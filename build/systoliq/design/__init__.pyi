from .array import (
    ArrayDesign,
)
from .design import (
    Design,
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
from .self_fed_engine import (
    SelfFedEngineDesign,
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
    "EngineDesign",
    "Hardware",
    "LayerDesign",
    "NetworkDesign",
    "SelfFedEngineDesign",
    "Simulated",
    "open_source",
]
