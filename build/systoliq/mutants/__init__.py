"""Mutants of a package's Verilog: does its testbench, or `verify`, find what is wrong with it?"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
