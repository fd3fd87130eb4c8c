"""ONNX in: the quantized matrix products of a model, as layers; the whole of it, as a network.

    model.onnx  --model_file-->  Model: a Graph  --products-->  Product: a MatMulLayer, or the reason why it is none
                                                 --network-->   Reading: a Network, or the reasons against it

`Model` is the file, parsed once. `catalogue` has a row for each operator: its inputs, and what reads it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
