"""Results of a step of the vector unit by onnxruntime."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..host import HostPiece
from ..lowering import Lowered
from ..operations import Array
from ..steps import HostStep, VectorStep

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["by_onnxruntime", "entries_of"]

_TAILS = 7  # elements that a kernel may compute apart, behind those that it computes together


def by_onnxruntime(model: Lowered, step: VectorStep, nodes: Sequence[NodeProto] | None = None) -> Callable[..., Array]:
    """Return what computes the output of `step` for its inputs, by `nodes` if they are given, else by its own."""
    chosen = tuple(step.nodes if nodes is None else nodes)
    piece = HostPiece(model.model, HostStep(nodes=chosen, inputs=step.inputs, outputs=(step.output,), products={}))

    def run(*given: Array) -> Array:
        return piece.run(dict(zip(step.inputs, given, strict=True)))[step.output]

    return run


def entries_of(apply: Callable[[Array], Array], codes: Array) -> Array:
    """Return the results of `apply` for `codes`, along the last axis; ValueError if they depend on how many there
    are: a kernel may compute the last few elements of a tensor apart.
    """
    whole = apply(codes)
    parts = [apply(codes[at : at + _TAILS]) for at in range(0, len(codes), _TAILS)]
    if (np.concatenate(parts, axis=-1) != whole).any():
        raise ValueError("onnxruntime's results depend on the number of elements")
    return whole
