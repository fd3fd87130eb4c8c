"""Lowering: a model as the graph that onnxruntime itself makes of it, in which quantized products are single nodes.

QDQ patterns become QLinearConv, QLinearMatMul and QGemm, dynamic quantization becomes DynamicQuantizeMatMul or
MatMulInteger. What onnxruntime computes is what these nodes say, so that nothing of its fusions is guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from ..onnx.graph import Graph
from ..onnx.model import read_model
from ..onnx.quantization import unquantized
from ..onnx.runtime import Session, fused

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["Lowered", "lowered"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Lowered:
    """The ONNX model in the file `path` as the `model` that onnxruntime makes of it; `session` runs it as it is."""

    path: Path
    model: ModelProto
    session: Session

    @property
    def graph(self) -> Graph:
        """The lowered model's graph."""
        return Graph(self.model, self.path.parent)


def lowered(path: Path) -> Lowered:
    """The graph that onnxruntime runs for the ONNX model in the file `path`; InputError where it takes none."""
    given = read_model(path)  # its limits, and its errors
    if (reason := unquantized(Graph(given, path.parent))) is not None:
        raise InputError(f"{path}: {reason}")
    model = fused(str(path), str(path))
    return Lowered(path=path, model=model, session=Session(str(path), str(path)))
