"""Nodes of a model, in words and by their attributes; and the errors that say why one is not taken."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from systoliq.golden.limits import TENSOR_ELEMENTS

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = [
    "MOVES",
    "RECURRENT",
    "BetweenMultiplesError",
    "Given",
    "NotTakenError",
    "StaysFloatError",
    "attribute",
    "channel_axis",
    "check_elements",
    "check_saturates",
    "dimensions",
    "domain",
    "is_operator",
    "label",
    "layer_name",
    "takes_transposed_b",
    "together",
]

Given = Mapping[str, str]
"""The tensors at the inputs of a node, by role; "" for those that it leaves out. See `operator`."""

# Operators that move elements and change none: they may stand between a tensor and its Q or DQ.
MOVES = ("Identity", "Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze")
# Layers with a state that goes from step to step.
RECURRENT = ("RNN", "GRU", "LSTM")


class NotTakenError(Exception):
    """Why a product cannot be a layer, in words that name the tensor or the node."""


class BetweenMultiplesError(NotTakenError):
    """A bias is not a whole multiple of the unit of its product."""


class StaysFloatError(NotTakenError):
    """A product's result is no integer in the model: no QuantizeLinear follows."""


def together(*readers: Callable[[], Any]) -> list[Any]:
    """The results of all `readers`; one NotTakenError with all reasons if some fail."""
    attempts = [_attempt(read) for read in readers]
    if reasons := dict.fromkeys(reason for _, reason in attempts if reason is not None):
        raise NotTakenError("; ".join(reasons))
    return [value for value, _ in attempts]


def _attempt(read: Callable[[], Any]) -> tuple[Any, str | None]:
    try:
        return read(), None
    except NotTakenError as error:
        return None, str(error)


def channel_axis(node: NodeProto, scale: npt.NDArray[Any], shape: Sequence[int]) -> int | None:
    """The axis of a constant of `shape` along which the scales of a Q or DQ lie; None where there is one for all."""
    if block := attribute(node, "block_size", 0):
        raise NotTakenError(
            f"{label(node)} must have one scale or one per channel, not one per block of {block}: quantize without "
            "blocks"
        )
    if scale.size == 1:
        return None
    axis = int(attribute(node, "axis", 1))
    if not -len(shape) <= axis < len(shape) or scale.shape != (shape[axis],):
        raise NotTakenError(
            f"the scale of {label(node)} must be one, or one for each of an axis' elements, not of shape "
            f"{list(scale.shape)} along axis {axis} of {list(shape)}"
        )
    return axis % len(shape)


def check_elements(what: str, shape: Sequence[int]) -> int:
    """Elements of a tensor of `shape`; a NotTakenError, which names it, where they are more than `TENSOR_ELEMENTS`."""
    count = math.prod(shape)
    if min(shape, default=0) < 0 or count > TENSOR_ELEMENTS:
        raise NotTakenError(f"{what} must have at most {TENSOR_ELEMENTS} elements, not the shape {list(shape)}")
    return count


def check_saturates(node: NodeProto) -> None:
    """Raise NotTakenError for a QuantizeLinear to float8 that returns NaN or infinity for numbers beyond the range."""
    if not attribute(node, "saturate", 1):
        raise NotTakenError(f"saturate must be 1 in {label(node)}, not 0: float8 results of a layer saturate")


def dimensions(shape: Sequence[int | str | None]) -> str:
    """A shape in words: [1, N, ?], with the names that the model gives, and ? where nothing is known."""
    return f"[{', '.join(str(size or '?') for size in shape)}]"


def domain(node: NodeProto) -> str:
    """The domain of a node's operator; ONNX's own is ''."""
    return "" if node.domain == "ai.onnx" else node.domain


def is_operator(node: NodeProto, *names: str) -> bool:
    """True if a node is one of these operators, of ONNX or, for Q and DQ, of com.microsoft."""
    if node.op_type not in names:
        return False
    quantizing = node.op_type in ("QuantizeLinear", "DequantizeLinear") and len(node.input) >= 2
    return domain(node) == "" or (domain(node) == "com.microsoft" and quantizing)


def attribute(node: NodeProto, name: str, default: Any = None) -> Any:
    """The attribute `name` of a node, or its default; a NotTakenError where one is a number and the other is none."""
    from onnx import helper

    value = next((helper.get_attribute_value(given) for given in node.attribute if given.name == name), default)
    if default is not None and _shape_of(value) != _shape_of(default):
        raise NotTakenError(f"{name} must be {_shape_of(default)} in {label(node)}, not {_shape_of(value)}")
    return value


def takes_transposed_b(node: NodeProto) -> bool:
    """True if a node states, as a whole number, that its weights are [N, K]."""
    return any(given.name == "transB" and given.i for given in node.attribute)


def _shape_of(value: Any) -> str:
    if isinstance(value, bytes):
        return "a word"
    if isinstance(value, int | float):
        return "a number"
    listed = isinstance(value, list | tuple) and all(isinstance(each, int | float) for each in value)
    return "numbers" if listed or isinstance(value, range) else "a value of another kind"


def label(node: NodeProto) -> str:
    """A node in words: its operator, and its name or, without one, its output's."""
    return f"{node.op_type} {(node.name or next(iter(node.output), ''))!r}"


def layer_name(name: str) -> str:
    """A node's name as part of a file's and a module's: /fc/Gemm becomes fc_Gemm."""
    return re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_") or "layer"
