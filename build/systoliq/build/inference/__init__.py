"""Inference of a whole model: its matrix products and convolutions on the engine's RTL, the rest in onnxruntime.

FILE.onnx -> onnxruntime's own fused graph -> steps: pieces for the host, products for the engine      `lowering`,
products -> jobs of the engine, by im2col for convolutions; each compared with golden and onnxruntime  `steps`
products -> lists of jobs, weights and buffers in memory, for the engine that feeds itself             `program`
"""

from .program import CompiledModel, compile_onnx
from .report import InferenceReport, StepReport
from .session import EngineSession

__all__ = ["CompiledModel", "EngineSession", "InferenceReport", "StepReport", "compile_onnx"]
