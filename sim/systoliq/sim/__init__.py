"""Simulation of the hardware with cocotb under Verilator or Icarus, compared with golden; and parts for other benches.

Names are imported on first use, so that the parts that run inside a simulator do not have to load Amaranth.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
