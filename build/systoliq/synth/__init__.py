"""Synthesis, place and route: Verilog in, measured cells and frequencies out. All tools come from PyPI.

design -> Verilog -> `yosys` (cells, netlist) -> `nextpnr` (sites, frequency; once per seed) -> `SynthReport`
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
