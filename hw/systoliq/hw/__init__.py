"""systoliq.hw: the hardware, as Amaranth components.

`Dense` is a layer with constant weights, `BareArray` the array alone; `AxiDense` and `AxiBareArray` put them behind
AXI4-Stream names. `ArrayConfig` says how much hardware, `emit_verilog` writes any of them out.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
