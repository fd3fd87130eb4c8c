from .host import (
    HostPart,
)
from .network import (
    read_network,
)
from .products import (
    Product,
    is_model,
    onnx_layer,
    onnx_product,
    read_onnx,
    read_products,
)

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
