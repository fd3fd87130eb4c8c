"""ONNX in: the quantized matrix products of a model, as layers; the whole of it, as a network.

    model.onnx  --graph-->  Graph  --products-->  Product: a MatMulLayer, or the reason why it is none

`model` reads the file, by the `onnx` library and within limits. `network` reads every node of a model. `operators`
knows the patterns that quantizers write.
"""

from .host import HostPart
from .network import read_network
from .products import Product, is_model, onnx_layer, onnx_product, read_onnx, read_products

__all__ = [
    "HostPart",
    "Product",
    "is_model",
    "onnx_layer",
    "onnx_product",
    "read_network",
    "read_onnx",
    "read_products",
]
