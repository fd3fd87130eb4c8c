from .program import (
    CompiledModel,
    compile_onnx,
)
from .report import (
    InferenceReport,
    StepReport,
)
from .session import (
    EngineSession,
)

__all__ = [
    "CompiledModel",
    "EngineSession",
    "InferenceReport",
    "StepReport",
    "compile_onnx",
]
