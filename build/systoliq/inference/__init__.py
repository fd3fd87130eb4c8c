"""Inference of a whole model: its matrix products and convolutions on the engine's RTL, the rest in onnxruntime.

FILE.onnx -> onnxruntime's own fused graph -> steps: pieces for the host, products for the engine      `lowering`,
products -> jobs of the engine, by im2col for convolutions; each compared with golden and onnxruntime  `steps`
products -> lists of jobs, weights and buffers in memory, for the DMA engine             `program`
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
