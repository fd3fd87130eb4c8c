"""Direct memory access: rows of matrices between memory on AXI4 and streams."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
