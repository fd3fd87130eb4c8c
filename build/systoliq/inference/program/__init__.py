"""Program of a model for the DMA engine: lists of jobs, weights, places in memory, the host's steps.

lowered model -> sketches of products -> rooms -> weights and lists -> `Program`      `compiler`
`Program` -> files for those who build a system       `files`;  memory of a simulation       `playing`
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
