"""The Python interface in one import: designs from layers, models and presets, with simulation, synthesis and packages.

>>> from systoliq.api import LayerDesign, LayerOptions, MatMulLayer, read_onnx, write_package
>>> design = LayerDesign(layer, LayerOptions(depth=4, requantizer="auto", cells="ecp5"))
>>> design.simulate(a).check()
>>> design.synthesize("ecp5-85k", seeds=[1]).fmax_mhz
>>> write_package(design, "out/fc")
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub("systoliq", __file__)
