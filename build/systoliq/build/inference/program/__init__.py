"""Program of a model for the engine that feeds itself: lists of jobs, weights, places in memory, the host's steps.

lowered model -> sketches of products -> rooms -> weights and lists -> `Program`      `compiler`
`Program` -> files for those who build a system       `files`;  memory of a simulation       `playing`
"""

from .compiled import CompiledModel, compile_onnx
from .compiler import bytes_of_bus, compile_model
from .playing import play
from .product import Product
from .program import Program

__all__ = ["CompiledModel", "Product", "Program", "bytes_of_bus", "compile_model", "compile_onnx", "play"]
