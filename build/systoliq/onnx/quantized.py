"""Surroundings of a product in QDQ form: operands behind DequantizeLinear, the result before QuantizeLinear."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.float8 import Float8Format

from .agreement import check_quantizer
from .graph import Graph
from .narrow import format_of, is_integer
from .node import (
    MOVES,
    BetweenMultiplesError,
    NotTakenError,
    StaysFloatError,
    attribute,
    channel_axis,
    check_saturates,
    is_operator,
    label,
    together,
)

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = [
    "Output",
    "Parameters",
    "activations",
    "bias_has_own_scale",
    "bias_of",
    "check_positive",
    "follow_output",
    "output_type",
    "parameters_of",
    "real_bias",
    "weights",
]

_INT32 = np.iinfo(np.int32)
_BIAS_LIMIT = 1 << 24  # float32 tells whole numbers apart up to here
_BIAS_TOLERANCE = 2.0**-20  # of an int32 bias' scale: quantizers multiply a_scale * b_scale in their own precision


@dataclass(frozen=True, kw_only=True, eq=False)
class Parameters:
    """Scale and zero point of one tensor; the zero point's type is the tensor's."""

    scale: npt.NDArray[Any]
    zero_point: npt.NDArray[Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class Output:
    """The output of a product: it is quantized, after the constant `added` (a tensor's name) if given."""

    y: Parameters
    added: str | None


def activations(graph: Graph, name: str) -> Parameters:
    """Parameters of the tensor `name`, which must come from a DequantizeLinear, possibly through `MOVES`."""
    node = _back(graph, name, "a", MOVES)
    kind = graph.type_of(node.input[0])
    source = graph.producer(node.input[0])
    if kind is None and source is not None and is_operator(source, "QuantizeLinear"):
        kind = parameters_of(graph, source, "a", output_type(source)).zero_point.dtype
    return _one(parameters_of(graph, node, "a", kind), "a")


def weights(graph: Graph, name: str, *, transposed: bool) -> tuple[npt.NDArray[Any], Parameters]:
    """The constant weights [K, N] behind the DequantizeLinear that makes the tensor `name`, with their parameters.

    `transposed`: the product takes them as [N, K]. A Transpose may be before or after the DequantizeLinear.
    """
    node = _back(graph, name, "b", ("Identity", "Transpose"))
    b = graph.constant(node.input[0], "b")
    found = parameters_of(graph, node, "b", b.dtype)
    if b.ndim != 2:
        raise NotTakenError(f"b must have two dimensions, not the shape {list(b.shape)}")
    axis = channel_axis(node, found.scale, b.shape)
    between = graph.producer(name)
    while between is not None and between is not node:
        transposed ^= between.op_type == "Transpose" and list(attribute(between, "perm", [1, 0])) == [1, 0]
        between = graph.producer(between.input[0])
    if transposed:
        b, axis = b.T, None if axis is None else 1 - axis
    if axis == 0:
        raise NotTakenError("b must have a scale per column of [K, N], not per row: sums over K would mix them")
    return b, found


def bias_of(
    graph: Graph,
    name: str,
    a: Parameters,
    b: Parameters,
    n: int,
    *,
    requantized: bool = True,
    way_out: str = "store it as int32 in that unit, or as float32 where a QuantizeLinear follows",
) -> npt.NDArray[np.int32]:
    """The constant tensor `name`, which is added to a product, as int32 [N] in units of a_scale * b_scale.

    A DequantizeLinear of int32 has these integers already. onnxruntime rounds a float32 bias to them if the result is
    `requantized`. Any other bias must be whole multiples of the unit; otherwise, no integer bias gives the model's
    result, and the error names the `way_out`.
    """
    unit = _unit(a, b, n)
    stored, scale, zero_point = _bias_parts(graph, name)
    if stored is None:
        row = _row(scale, n)
        return _rounded(row, unit) if requantized else _whole(row, unit, way_out)
    if stored.dtype == np.int32 and not np.any(zero_point) and _is_unit(_row(scale, n), unit):
        return np.ascontiguousarray(_row(stored, n))
    return _whole(real_bias(graph, name, n), unit, way_out)


def bias_has_own_scale(graph: Graph, name: str, a: Parameters, b: Parameters, n: int) -> bool:
    """True if the bias `name` of n columns is int32 behind a DequantizeLinear whose scale is not a_scale * b_scale."""
    stored, scale, _ = _bias_parts(graph, name)
    return stored is not None and stored.dtype == np.int32 and not _is_unit(_row(scale, n), _unit(a, b, n))


def _unit(a: Parameters, b: Parameters, n: int) -> npt.NDArray[np.float32]:
    """a_scale * b_scale [N] in float32."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.broadcast_to((a.scale.reshape(()) * b.scale.reshape(-1)).astype(np.float32), n)


def _is_unit(scale: npt.NDArray[np.float32], unit: npt.NDArray[np.float32]) -> bool:
    with np.errstate(invalid="ignore"):  # infinities
        return bool(np.all(np.abs(scale.astype(np.float64) - unit) <= _BIAS_TOLERANCE * np.abs(unit)))


def real_bias(graph: Graph, name: str, n: int) -> npt.NDArray[np.float32]:
    """Return the constant tensor `name`, which is added to a product, as real numbers [N]."""
    stored, scale, zero_point = _bias_parts(graph, name)
    if stored is None:
        return _row(scale, n)
    with np.errstate(over="ignore", invalid="ignore"):
        real = (stored.astype(np.int64) - zero_point).astype(np.float32) * scale
    return _row(real, n)


def _bias_parts(graph: Graph, name: str) -> tuple[npt.NDArray[Any] | None, npt.NDArray[np.float32], npt.NDArray[Any]]:
    """The integers of a bias, and their scales and zero points in a shape that broadcasts; None and real numbers if no
    DequantizeLinear is before it.
    """
    node = graph.producer(name)
    if node is None or not is_operator(node, "DequantizeLinear"):
        real = graph.constant(name, "the bias")
        if real.dtype != np.float32:
            raise NotTakenError(f"the bias must be of float32 or behind a DequantizeLinear, not {real.dtype.name}")
        return None, real, np.zeros((), np.int32)
    stored = graph.constant(node.input[0], "the bias")
    if not is_integer(stored.dtype):
        raise NotTakenError(f"the bias must be of integers before {label(node)}, not of {stored.dtype.name}")
    found = parameters_of(graph, node, "the bias", stored.dtype)
    axis = channel_axis(node, found.scale, stored.shape)
    shape = [1] * stored.ndim if axis is None else [-1 if i == axis else 1 for i in range(stored.ndim)]
    zero_point = found.zero_point.reshape(shape if found.zero_point.size > 1 else [])
    return stored, np.broadcast_to(found.scale.reshape(shape), stored.shape), zero_point


def follow_output(graph: Graph, node: NodeProto) -> Output:
    """From the product `node` along its only use to the QuantizeLinear: over one Add, a Relu and `MOVES`.

    Raises StaysFloatError if there is none, and NotTakenError if the result has other uses, too.
    """
    name, added, relu, moved = node.output[0], None, None, False
    while True:
        if graph.is_output(name):
            text = f"its result must go to a QuantizeLinear, but leaves the graph in float as {name!r}"
            raise _stays_float(graph, name, text)
        users = graph.consumers(name)
        if len(users) != 1:
            targets = ", ".join(label(user) for user in users) or "nowhere"
            raise _stays_float(graph, name, f"its result must go to one QuantizeLinear, not to {targets}")
        (user,) = users
        if is_operator(user, "QuantizeLinear") and user.input[0] == name:
            break
        if is_operator(user, "Add") and added is None and relu is None and not moved:
            added = user.input[1 if user.input[0] == name else 0]
        elif is_operator(user, "Relu"):
            relu = user
        elif is_operator(user, *MOVES) and user.input[0] == name:
            moved = moved or user.op_type != "Identity"
        else:
            raise _stays_float(graph, name, f"its result must go to a QuantizeLinear, not to {label(user)}")
        name = user.output[0]
    y = _one(parameters_of(graph, user, "y", output_type(user)), "y")
    if Float8Format.of(y.zero_point.dtype) is not None:
        check_saturates(user)
        if relu is not None:
            raise NotTakenError(f"{label(relu)} must not stand before {label(user)}: float8 has numbers below 0")
        return Output(y=y, added=added)
    if relu is not None:
        check_positive("y", y.scale, f"behind {label(relu)}")
    if relu is not None and int(y.zero_point.reshape(())) != (least := format_of(y.zero_point.dtype).min):
        raise NotTakenError(
            f"{label(relu)} must be without effect before {label(user)}, whose zero point must then be "
            f"{least}, not {int(y.zero_point.reshape(()))}"
        )
    return Output(y=y, added=added)


def _stays_float(graph: Graph, name: str, text: str) -> NotTakenError:
    """The error for the tensor `name`, which onnxruntime computes in float where it is quantized for some uses only."""
    quantized = any(is_operator(user, "QuantizeLinear") for user in graph.consumers(name))
    return NotTakenError(text) if quantized else StaysFloatError(text)


def _back(graph: Graph, name: str, role: str, over: tuple[str, ...]) -> NodeProto:
    """The DequantizeLinear that makes the tensor `name`, which operators `over` may have passed on."""
    node = graph.producer(name)
    while node is not None and is_operator(node, *over):
        name = node.input[0]
        node = graph.producer(name)
    if node is None or not is_operator(node, "DequantizeLinear"):
        raise NotTakenError(f"{role} must come from a DequantizeLinear, not from {graph.source(name)}")
    return node


def parameters_of(graph: Graph, node: NodeProto, role: str, kind: np.dtype[Any] | None) -> Parameters:
    """Parameters of a Q or DQ; `kind` is the default type of its zero point."""
    scale, zero_point = together(
        lambda: _float_scale(graph, node, role),
        lambda: _zero_point(graph, node, role, kind),
    )
    if len(node.input) > 2 and node.input[2]:
        check_quantizer(graph, node, role, scale, zero_point)
    return Parameters(scale=scale, zero_point=zero_point)


def _float_scale(graph: Graph, node: NodeProto, role: str) -> npt.NDArray[Any]:
    scale = graph.constant(node.input[1], f"{role}'s scale")
    if scale.dtype != np.float32:
        raise NotTakenError(
            f"{role}'s scale must be float32 in {label(node)}, not {scale.dtype.name}: the product would be computed "
            "in that type, which is not exact"
        )
    return scale


def check_positive(role: str, scale: npt.NDArray[np.float32], reason: str) -> None:
    """A NotTakenError that names the first scale that is not positive and finite."""
    wrong = scale[~(np.isfinite(scale) & (scale > 0))]
    if wrong.size:
        raise NotTakenError(f"{role}'s scale must be positive and finite {reason}, not {float(wrong[0])!r}")


def _zero_point(graph: Graph, node: NodeProto, role: str, kind: np.dtype[Any] | None) -> npt.NDArray[Any]:
    if len(node.input) > 2 and node.input[2]:
        return graph.constant(node.input[2], f"{role}'s zero point")
    if kind is None:
        raise NotTakenError(f"{role} must have a zero point or a known type in {label(node)}")
    return np.zeros((), kind)


def output_type(node: NodeProto) -> np.dtype[Any]:
    """The type that a QuantizeLinear without a zero point gives."""
    from onnx import TensorProto, helper

    kind = attribute(node, "output_dtype", 0) or TensorProto.UINT8
    try:
        return helper.tensor_dtype_to_np_dtype(kind)
    except (KeyError, TypeError):
        raise NotTakenError(f"output_dtype must be a type of ONNX in {label(node)}, not {kind!r}") from None


def _one(found: Parameters, role: str) -> Parameters:
    if found.scale.size != 1 or found.zero_point.size != 1:
        raise NotTakenError(f"{role} must have one scale and zero point, not of shape {list(found.scale.shape)}")
    return found


def _row(array: npt.NDArray[Any], n: int) -> npt.NDArray[Any]:
    """A constant that is added to rows of N, as one row."""
    if array.size not in (1, n) or (array.size == n > 1 and array.shape[-1] != n):
        raise NotTakenError(f"the bias must have the shape [{n}] or be one value, not the shape {list(array.shape)}")
    return np.broadcast_to(array.reshape(-1), n)


def _rounded(real: npt.NDArray[Any], unit: npt.NDArray[np.float32]) -> npt.NDArray[np.int32]:
    """`real` [N] divided by `unit` [N] and rounded in float32, as onnxruntime quantizes a bias."""
    with np.errstate(all="ignore"):  # a unit may be 0 or infinite
        multiples = np.rint((real / unit).astype(np.float32))
        wrong = np.flatnonzero(~((multiples >= _INT32.min) & (multiples <= _INT32.max)))
    if wrong.size:
        column = int(wrong[0])
        raise NotTakenError(
            f"the bias must fit int32 in units of a_scale * b_scale, but column {column} has {float(real[column]):.6g} "
            f"for a unit of {float(unit[column]):.6g}"
        )
    return multiples.astype(np.int32)


def _whole(real: npt.NDArray[Any], unit: npt.NDArray[np.float32], way_out: str) -> npt.NDArray[np.int32]:
    """`real` [N] as whole multiples of `unit` [N], which they must be to the last bit of float32."""
    with np.errstate(all="ignore"):  # a unit may be 0 or infinite
        multiples = np.rint(real.astype(np.float64) / unit)
        fitting = np.abs(multiples) <= _BIAS_LIMIT
        wrong = np.flatnonzero(~(fitting & (multiples.astype(np.float32) * unit == real)))
    if wrong.size:
        column = int(wrong[0])
        raise BetweenMultiplesError(
            "the bias must be whole multiples of a_scale * b_scale, so that an integer bias is exact, but column "
            f"{column} has {float(real[column]):.6g} for a unit of {float(unit[column]):.6g}; {way_out}"
        )
    return multiples.astype(np.int32)
