"""Results of a step of the vector unit by onnxruntime."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..host import HostPiece
from ..lowering import Lowered
from ..operations import Array
from ..steps import HostStep, VectorStep

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["by_onnxruntime"]


def by_onnxruntime(model: Lowered, step: VectorStep, nodes: Sequence[NodeProto] | None = None) -> Callable[..., Array]:
    """Return what computes the output of `step` for its inputs, by `nodes` if they are given, else by its own."""
    chosen = tuple(step.nodes if nodes is None else nodes)
    piece = HostPiece(model.model, HostStep(nodes=chosen, inputs=step.inputs, outputs=(step.output,), products={}))

    def run(*given: Array) -> Array:
        return piece.run(dict(zip(step.inputs, given, strict=True)))[step.output]

    return run
