from .axi import (
    AxiBareArray,
    AxiDense,
)
from .bare_array import (
    BareArray,
)
from .config import (
    ArrayConfig,
)
from .dense import (
    Dense,
)
from .schedule import (
    Schedule,
)
from .verilog import (
    EmissionError,
    emit_verilog,
)

__all__ = [
    "ArrayConfig",
    "AxiBareArray",
    "AxiDense",
    "BareArray",
    "Dense",
    "EmissionError",
    "Schedule",
    "emit_verilog",
]
