"""Lowering: a model as the graph that onnxruntime itself makes of it, in which quantized products are single nodes.

QDQ patterns become QLinearConv, QLinearMatMul and QGemm, dynamic quantization becomes DynamicQuantizeMatMul or
MatMulInteger. What onnxruntime computes is what these nodes say, so that nothing of its fusions is guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from ..onnx import Model
from ..onnx.graph import Graph
from ..onnx.runtime import Session, fused

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["Lowered", "lowered"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Lowered:
    """The ONNX model `given` as the `model` that onnxruntime makes of it; `session` runs it as it is."""

    given: Model
    model: ModelProto
    session: Session

    @property
    def path(self) -> Path:
        """The model's file."""
        return self.given.path

    @property
    def graph(self) -> Graph:
        """The lowered model's graph."""
        return Graph(self.model, self.path.parent)


def lowered(model: str | Path | Model) -> Lowered:
    """The graph that onnxruntime runs for a model or the file of one; InputError where it takes none."""
    given = model if isinstance(model, Model) else Model.open(model)  # its limits, and its errors
    if given.unquantized is not None:
        raise InputError(f"{given.path}: {given.unquantized}")
    path = str(given.path)
    return Lowered(given=given, model=fused(path, path), session=Session(path, path))
