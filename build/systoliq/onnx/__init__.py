"""ONNX in: the quantized matrix products of a model, as layers; the whole of it, as a network.

    model.onnx  --graph-->  Graph  --products-->  Product: a MatMulLayer, or the reason why it is none

`model` reads the file, by the `onnx` library and within limits. `network` reads every node of a model. `operators`
knows the patterns that quantizers write.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
