"""systoliq.hw: the hardware, as Amaranth components.

`Dense` is a layer with constant weights, `BareArray` the array alone; `AxiDense` and `AxiBareArray` put them behind
AXI4-Stream names. `ArrayConfig` says how much hardware.
"""

from .axi import AxiBareArray, AxiDense
from .bare_array import BareArray
from .config import ArrayConfig
from .dense import Dense
from .schedule import Schedule

__all__ = ["ArrayConfig", "AxiBareArray", "AxiDense", "BareArray", "Dense", "Schedule"]
