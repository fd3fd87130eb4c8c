"""A float model quantized as `systoliq quantize` does, on random inputs."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnxruntime.quantization import CalibrationDataReader, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from systoliq.quantize.settings import quantizer_settings

__all__ = ["quantized"]


class Batches(CalibrationDataReader):
    """Four random inputs."""

    def __init__(self, name: str, shape: tuple[int, ...]) -> None:
        rng = np.random.default_rng(1)
        self._left = [{name: rng.normal(0, 1, shape).astype(np.float32)} for _ in range(4)]

    def get_next(self) -> dict[str, np.ndarray] | None:
        return self._left.pop() if self._left else None


def quantized(model: onnx.ModelProto, path: Path) -> tuple[str, tuple[int, ...]]:
    """Write `model` to `path`, quantized as `systoliq quantize` does; return the name and shape of its input."""
    (info,) = model.graph.input
    shape = tuple(each.dim_value for each in info.type.tensor_type.shape.dim)
    with tempfile.TemporaryDirectory() as folder:
        before, prepared = (str(Path(folder) / name) for name in ("float.onnx", "prepared.onnx"))
        onnx.save(model, before)
        quant_pre_process(before, prepared, skip_symbolic_shape=True)
        quantize_static(prepared, path, Batches(info.name, shape), **quantizer_settings())
    return info.name, shape
