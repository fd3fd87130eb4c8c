"""systoliq.sim.engine: the programmable engine under a simulator, driven by `systoliq.hw.engine.host`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
