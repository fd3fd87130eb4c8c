"""ONNX in: the quantized matrix products of a model, as layers.

    model.onnx  --graph-->  Graph  --products-->  Product: a MatMulLayer, or the reason why it is none

`operators` knows the patterns that quantizers write. The `onnx` library parses and checks the file.
"""

from .host import HostPart
from .products import Product, is_model, onnx_layer, onnx_product, read_onnx, read_products

__all__ = ["HostPart", "Product", "is_model", "onnx_layer", "onnx_product", "read_onnx", "read_products"]
