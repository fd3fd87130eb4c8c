from .model import (
    Model,
    read_network,
    read_onnx,
    read_products,
)

__all__ = [
    "Model",
    "read_network",
    "read_onnx",
    "read_products",
]
