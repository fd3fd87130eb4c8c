from .compiled import (
    CompiledModel,
    compile_onnx,
)
from .compiler import (
    bytes_of_bus,
    compile_model,
)
from .playing import (
    play,
)
from .product import (
    Product,
)
from .program import (
    Program,
)
from .vector import (
    VectorInMemory,
    play_vector,
)

__all__ = [
    "CompiledModel",
    "Product",
    "Program",
    "VectorInMemory",
    "bytes_of_bus",
    "compile_model",
    "compile_onnx",
    "play",
    "play_vector",
]
