from .deploy import (
    NetworkReport,
    NetworkSession,
)
from .design import (
    ArrayDesign,
    ArrayOptions,
    Design,
    DmaEngineDesign,
    EngineDesign,
    EngineOptions,
    LayerDesign,
    LayerOptions,
    NetworkDesign,
    NetworkOptions,
    open_source,
)
from .errors import (
    InputError,
    MissingPackageError,
)
from .golden import (
    matmul_integer,
    qlinear_matmul,
)
from .golden.layer import (
    MatMulLayer,
)
from .golden.network import (
    Network,
)
from .hw.engine import (
    EngineConfig,
)
from .inference import (
    CompiledModel,
    EngineSession,
    compile_onnx,
)
from .onnx import (
    Model,
    read_network,
    read_onnx,
    read_products,
)
from .onnx.products import (
    Product,
)
from .package import (
    write_package,
)
from .sim import (
    SimulationError,
    ToolError,
)
from .sim.engine import (
    Engine,
)
from .sim.simulated import (
    Simulated,
)
from .synth import (
    SynthReport,
)
from .verify import (
    verify_package,
)

__all__ = [
    "ArrayDesign",
    "ArrayOptions",
    "CompiledModel",
    "Design",
    "DmaEngineDesign",
    "Engine",
    "EngineConfig",
    "EngineDesign",
    "EngineOptions",
    "EngineSession",
    "InputError",
    "LayerDesign",
    "LayerOptions",
    "MatMulLayer",
    "MissingPackageError",
    "Model",
    "Network",
    "NetworkDesign",
    "NetworkOptions",
    "NetworkReport",
    "NetworkSession",
    "Product",
    "Simulated",
    "SimulationError",
    "SynthReport",
    "ToolError",
    "compile_onnx",
    "matmul_integer",
    "open_source",
    "qlinear_matmul",
    "read_network",
    "read_onnx",
    "read_products",
    "verify_package",
    "write_package",
]
