"""systoliq.hw: the hardware, as Amaranth components.

`Dense` is a layer with constant weights, `BareArray` the array alone; `AxiDense` and `AxiBareArray` put them behind
AXI4-Stream names. `ArrayConfig` says how much hardware, `emit_verilog` writes any of them out.
"""

from systoliq.moved import announce

from .axi import AxiBareArray, AxiDense
from .bare_array import BareArray
from .config import ArrayConfig
from .dense import Dense
from .schedule import Schedule
from .verilog import EmissionError, emit_verilog

__all__ = ["ArrayConfig", "AxiBareArray", "AxiDense", "BareArray", "Dense", "EmissionError", "Schedule", "emit_verilog"]

announce(
    {
        "systoliq.hw.children": "systoliq.children",
        "systoliq.hw.engine.lane": "systoliq.hw.engine.engine_lane",
        "systoliq.hw.lane": "systoliq.hw.drain_lane",
    }
)
