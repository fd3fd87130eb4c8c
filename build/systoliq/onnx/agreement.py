"""Types and shapes of a product that must agree, as onnxruntime asks when it loads a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .graph import Graph
from .node import NotTakenError, is_operator, label

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["check_operator", "check_quantizer", "check_rows"]


def check_operator(graph: Graph, node: NodeProto, b_input: int, fields: dict[str, Any]) -> None:
    """A NotTakenError where a, b or y of an operator on integers is of another type than its zero point in `fields`."""
    places = {"a": node.input[0], "b": node.input[b_input], "y": node.output[0]}
    for role, name in places.items():
        zero_point = fields.get(f"{role}_zero_point")
        if zero_point is not None:
            _check_type(graph, role, name, zero_point)


def check_quantizer(
    graph: Graph, node: NodeProto, role: str, scale: npt.NDArray[Any], zero_point: npt.NDArray[Any]
) -> None:
    """Raise NotTakenError if a Q or DQ has a zero point of another type than its integers, or of another size than its
    scale.
    """
    quantizes = is_operator(node, "QuantizeLinear")
    _check_type(graph, role, node.output[0] if quantizes else node.input[0], zero_point)
    if scale.size != zero_point.size:
        raise NotTakenError(
            f"{role}'s scale and zero point must have the same shape in {label(node)}, not {list(scale.shape)} and "
            f"{list(zero_point.shape)}"
        )


def check_rows(graph: Graph, node: NodeProto, k: int) -> None:
    """A NotTakenError where A is known not to have `k` as its last dimension."""
    shape = graph.shape(node.input[0])
    last = shape[-1] if shape else k
    if isinstance(last, int) and last != k:
        raise NotTakenError(f"a must have K = {k} as its last dimension, as b has, not {last}")


def _check_type(graph: Graph, role: str, name: str, zero_point: npt.NDArray[Any]) -> None:
    kind: np.dtype[Any] | None = graph.type_of(name)
    if kind is not None and kind != zero_point.dtype:
        raise NotTakenError(
            f"{role}'s zero point must be of the type of {name!r}, {kind.name}, not {zero_point.dtype.name}"
        )
