"""Mutants of a package's Verilog: measure whether its testbench, or `verify`, finds them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
