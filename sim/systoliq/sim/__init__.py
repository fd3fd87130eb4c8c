"""Simulation of the hardware: cocotb under Verilator or Icarus, compared with golden; and parts for benches of others.

Names are imported when they are asked for: the parts that run inside a simulator do not wait for Amaranth, which those
that build one need.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
