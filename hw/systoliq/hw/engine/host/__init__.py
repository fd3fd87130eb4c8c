"""systoliq.hw.engine.host: the host's side of the engine: plan an operation, pack its operands, drive a job."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
