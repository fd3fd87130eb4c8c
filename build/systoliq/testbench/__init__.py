"""Self-checking testbenches in plain Verilog: parts that all kinds of design share, and a folder for each kind."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
