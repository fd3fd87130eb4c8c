"""systoliq.hw.engine: a programmable engine that runs any QLinearMatMul and MatMulInteger, job after job."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
