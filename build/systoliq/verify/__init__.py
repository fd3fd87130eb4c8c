"""Verification of a package: `systoliq verify DIR` checks it against its certificate by a second method."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
