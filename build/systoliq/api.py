"""The Python interface in one import: designs from layers, models and presets, with simulation, synthesis and packages.

>>> from systoliq.api import Design, Hardware, MatMulLayer, read_onnx
>>> design = Design(layer, Hardware(depth=4, requantizer="auto", cells="ecp5"))
>>> design.simulate(a).check()
>>> design.synthesize("ecp5-85k").fmax_mhz
>>> design.write("out/fc")
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub("systoliq", __file__)
