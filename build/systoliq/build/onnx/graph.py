"""A model's graph, as the patterns ask about it: who makes a tensor, who uses it, and what it holds if constant."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.float8 import FLOAT8, Float8Format
from systoliq.golden.parameters import float8_zero

from ..errors import InputError, need
from .narrow import NARROW_TYPES, format_of, is_integer

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto

__all__ = [
    "MOVES",
    "Graph",
    "NotTakenError",
    "StaysFloatError",
    "attribute",
    "channel_axis",
    "check_saturates",
    "domain",
    "is_operator",
    "label",
    "read_model",
    "together",
]

# Operators that move elements and change none: they may stand between a tensor and its Q or DQ.
MOVES = ("Identity", "Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze")

# What constants may be; other types (float4, double, ...) are refused by name.
_FLOAT8_TYPES = tuple(form.name.replace("_", "") for form in FLOAT8)  # as ONNX spells them
_INTEGERS = (*NARROW_TYPES, "int8", "uint8", "int16", "uint16", "int32", "int64")
_TYPES = (*_INTEGERS, *_FLOAT8_TYPES, "float", "float16", "bfloat16")


class NotTakenError(Exception):
    """Why a product cannot be a layer, in words that name the tensor or the node."""


class StaysFloatError(NotTakenError):
    """A product's result is no integer in the model: no QuantizeLinear follows."""


def together(*readers: Callable[[], Any]) -> list[Any]:
    """What each of `readers` gives; one NotTakenError with the reasons of all that cannot be read."""
    attempts = [_attempt(read) for read in readers]
    if reasons := dict.fromkeys(reason for _, reason in attempts if reason is not None):
        raise NotTakenError("; ".join(reasons))
    return [value for value, _ in attempts]


def _attempt(read: Callable[[], Any]) -> tuple[Any, str | None]:
    try:
        return read(), None
    except NotTakenError as error:
        return None, str(error)


def read_model(path: Path) -> ModelProto:
    """The checked model in the file `path`, with shapes as far as they can be inferred; external data is not read."""
    onnx = need("onnx", "onnx", "reading ONNX models", extra="onnx")
    protobuf = need("google.protobuf.message", "protobuf", "reading ONNX models", extra="onnx")
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such file")
    try:
        with path.open("rb") as file:
            model: ModelProto = onnx.load(file, format="protobuf", load_external_data=False)
        onnx.checker.check_model(str(path))
    except (protobuf.DecodeError, onnx.checker.ValidationError, UnicodeDecodeError) as error:
        reason = str(error).strip().split("\n")[0].rstrip(".")
        raise InputError(f"{path}: must be a valid ONNX model ({reason})") from error
    if len(model.functions):
        model = need("onnx.inliner", "onnx", "models with functions", extra="onnx").inline_local_functions(model)
    with contextlib.suppress(onnx.shape_inference.InferenceError):  # shapes are then those that the file states
        model = onnx.shape_inference.infer_shapes(model)
    return model


class Graph:
    """The main graph of `model`; `folder` is where its external data lies."""

    def __init__(self, model: ModelProto, folder: Path) -> None:
        self.graph: GraphProto = model.graph
        self.opsets = list(model.opset_import)
        self.ir_version = model.ir_version
        self._folder = folder
        self._initializers = {tensor.name: tensor for tensor in self.graph.initializer}
        self._producers = {name: node for node in self.graph.node for name in node.output if name}
        self._consumers: defaultdict[str, list[NodeProto]] = defaultdict(list)
        for node in self.graph.node:
            for name in dict.fromkeys(node.input):
                self._consumers[name].append(node)
        infos = (*self.graph.value_info, *self.graph.input, *self.graph.output)
        self._infos = {info.name: info.type.tensor_type for info in infos}
        self._outputs = {info.name for info in self.graph.output}

    @property
    def initializers(self) -> set[str]:
        """Names of the constants that the graph holds."""
        return set(self._initializers)

    def producer(self, name: str) -> NodeProto | None:
        """The node that makes the tensor `name`, or None: an input, an initializer or nothing makes it."""
        return self._producers.get(name)

    def consumers(self, name: str) -> list[NodeProto]:
        """The nodes that use the tensor `name`."""
        return self._consumers[name]

    def is_output(self, name: str) -> bool:
        """Whether the tensor `name` leaves the graph."""
        return name in self._outputs

    def source(self, name: str) -> str:
        """What makes the tensor `name`, in words."""
        node = self.producer(name)
        if node is not None:
            return label(node)
        return f"the initializer {name!r}" if name in self._initializers else f"the graph's input {name!r}"

    def shape(self, name: str) -> list[int | str | None] | None:
        """Dimensions of the tensor `name`: sizes, names, or None where unknown; None where even their number is."""
        if name in self._initializers:
            return list(self._initializers[name].dims)
        info = self._infos.get(name)
        if info is not None and info.HasField("shape"):
            return [dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None for dim in info.shape.dim]
        node = self.producer(name)
        if node is not None and is_operator(node, "QuantizeLinear", "DequantizeLinear"):
            return self.shape(node.input[0])  # those of com.microsoft, whose shapes onnx does not infer
        return None

    def type_of(self, name: str) -> np.dtype[Any] | None:
        """The type of the tensor `name`, where it is known."""
        from onnx import helper

        info = self._infos.get(name)
        kind = self._initializers[name].data_type if name in self._initializers else info.elem_type if info else 0
        try:
            return helper.tensor_dtype_to_np_dtype(kind)
        except KeyError:  # 0, or what onnx does not know
            return None

    def is_constant(self, name: str) -> bool:
        """Whether the tensor `name` is an initializer, a Constant, or one of these with its elements moved."""
        node = self.producer(name)
        if node is None:
            return name in self._initializers
        if is_operator(node, "Constant"):
            return True
        return is_operator(node, *MOVES, "QuantizeLinear") and all(self.is_constant(i) for i in node.input if i)

    def constant(self, name: str, role: str) -> npt.NDArray[Any]:
        """The constant tensor `name`; `role` is what it is to the layer, for the error where it is none."""
        if not self.is_constant(name):
            raise NotTakenError(f"{role} must be constant, not from {self.source(name)}")
        node = self.producer(name)
        if node is None:
            return self._array(self._initializers[name], role)
        if is_operator(node, "Constant"):
            return self._constant_node(node, role)
        if is_operator(node, "QuantizeLinear"):
            return self._quantized(node, role)
        return self._moved(node, role)

    def _array(self, tensor: TensorProto, role: str) -> npt.NDArray[Any]:
        from onnx import TensorProto, numpy_helper

        kind = TensorProto.DataType.Name(tensor.data_type).lower()
        if kind not in _TYPES:
            known = "integers of 2, 4, 8 or 16 bits, one of the four float8 types or float32"
            raise NotTakenError(f"{role} must be of {known}, not of {kind}")
        try:
            return np.asarray(numpy_helper.to_array(tensor, str(self._folder)))
        except (OSError, ValueError, RuntimeError) as error:  # of external data, or of too few bytes
            raise NotTakenError(f"{role}: the data of {tensor.name!r} cannot be read ({error})") from error

    def _constant_node(self, node: NodeProto, role: str) -> npt.NDArray[Any]:
        from onnx import helper

        given = node.attribute[0]
        value = helper.get_attribute_value(given)
        if given.name == "value":
            return self._array(value, role)
        if given.name in ("value_float", "value_floats"):
            return np.asarray(value, np.float32)
        if given.name in ("value_int", "value_ints"):
            return np.asarray(value, np.int64)
        raise NotTakenError(f"{role} must be a Constant of numbers, not of {given.name}")

    def _moved(self, node: NodeProto, role: str) -> npt.NDArray[Any]:
        """A constant behind an operator of `MOVES`."""
        x = self.constant(node.input[0], role)
        if node.op_type == "Identity":
            return x
        if node.op_type == "Transpose":
            return np.transpose(x, attribute(node, "perm"))
        # Reshape, Flatten, Squeeze, Unsqueeze keep the order of the elements, so that the inferred shape says it all.
        shape = self.shape(node.output[0])
        sizes = [size for size in shape or [] if isinstance(size, int)]
        if shape is None or len(sizes) != len(shape):
            raise NotTakenError(f"{role} must have a known shape behind {label(node)}")
        return x.reshape(sizes)

    def _quantized(self, node: NodeProto, role: str) -> npt.NDArray[Any]:
        """Float weights behind a QuantizeLinear: x / scale rounded, plus the zero point, saturated."""
        x = self.constant(node.input[0], role)
        scale = self.constant(node.input[1], f"the scale of {label(node)}")
        if len(node.input) < 3 or not node.input[2]:
            raise NotTakenError(f"{role}: {label(node)} must have a zero point")
        zero_point = self.constant(node.input[2], f"the zero point of {label(node)}")
        form = Float8Format.of(zero_point.dtype)
        if x.dtype != np.float32 or scale.dtype != np.float32 or not (form or is_integer(zero_point.dtype)):
            kinds = f"{x.dtype.name}, {scale.dtype.name} and {zero_point.dtype.name}"
            raise NotTakenError(f"{role}: {label(node)} must take float32 to integers or float8, not {kinds}")
        if not (np.all(np.isfinite(x)) and np.all(np.isfinite(scale) & (scale > 0))):
            raise NotTakenError(f"{role}: {label(node)} must take finite numbers and a positive, finite scale")
        axis = channel_axis(node, scale, x.shape)
        shape = [1] * x.ndim
        if axis is not None:
            shape[axis] = scale.size
        with np.errstate(over="ignore"):  # infinity is saturated as well
            quotient = x / scale.reshape(shape)
        if form is not None:
            check_saturates(node)
            float8_zero(f"{role}'s zero point in {label(node)}", zero_point)
            return form.encode(quotient).view(zero_point.dtype)
        fmt = format_of(zero_point.dtype)
        y = np.rint(quotient) + zero_point.astype(np.float32).reshape(shape if zero_point.size > 1 else [])
        clipped: npt.NDArray[Any] = np.clip(y, fmt.min, fmt.max).astype(zero_point.dtype)
        return clipped


def channel_axis(node: NodeProto, scale: npt.NDArray[Any], shape: Sequence[int]) -> int | None:
    """The axis of a constant of `shape` along which the scales of a Q or DQ lie; None where there is one for all."""
    if block := attribute(node, "block_size", 0):
        raise NotTakenError(f"{label(node)} must have one scale or one per channel, not one per block of {block}")
    if scale.size == 1:
        return None
    axis = int(attribute(node, "axis", 1))
    if not -len(shape) <= axis < len(shape) or scale.shape != (shape[axis],):
        raise NotTakenError(
            f"the scale of {label(node)} must be one, or one for each of an axis' elements, not of shape "
            f"{list(scale.shape)} along axis {axis} of {list(shape)}"
        )
    return axis % len(shape)


def check_saturates(node: NodeProto) -> None:
    """A NotTakenError for a QuantizeLinear to float8 that gives NaN, or infinity, for what is beyond all numbers."""
    if not attribute(node, "saturate", 1):
        raise NotTakenError(f"saturate must be 1 in {label(node)}, not 0: float8 results of a layer saturate")


def domain(node: NodeProto) -> str:
    """The domain of a node's operator; ONNX's own is ''."""
    return "" if node.domain == "ai.onnx" else node.domain


def is_operator(node: NodeProto, *names: str) -> bool:
    """Whether a node is one of these operators, of ONNX or, for Q and DQ, of com.microsoft."""
    if node.op_type not in names:
        return False
    quantizing = node.op_type in ("QuantizeLinear", "DequantizeLinear") and len(node.input) >= 2
    return domain(node) == "" or (domain(node) == "com.microsoft" and quantizing)


def attribute(node: NodeProto, name: str, default: Any = None) -> Any:
    """The attribute `name` of a node, or its default."""
    from onnx import helper

    return next((helper.get_attribute_value(given) for given in node.attribute if given.name == name), default)


def label(node: NodeProto) -> str:
    """A node in words: its operator, and its name or, where it has none, that of its output."""
    return f"{node.op_type} {(node.name or next(iter(node.output), ''))!r}"
