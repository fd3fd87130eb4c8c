"""Deployment of a model whose network runs in hardware: host parts in onnxruntime, the network in Verilog or a board.

    model.onnx  --partition-->  before, network, after  --NetworkSession-->  outputs and a report
                                                        --model_hw-->  model_hw.onnx, with one custom operator

`hardware` has what runs the network; `operator` is the custom operator of onnxruntime-extensions.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
