"""QuantizeLinear and DequantizeLinear: where real numbers become integers of a network, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.formats import IntFormat
from systoliq.golden.network import (
    Convolution,
    Dense,
    Move,
    Multiplication,
    Node,
    RealPair,
    Reshape,
    ResidualSum,
    Source,
    Table,
    Tensor,
)
from systoliq.golden.network.table import entries_of

from ..graph import Graph
from ..node import NotTakenError, attribute, is_operator, label
from ..quantized import Parameters, parameters_of
from .reader import Reader, UnknownInputError
from .values import Given, Pending, Real, Unknown, Value

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = [
    "as_format",
    "bounds_of",
    "constant_tensor",
    "counted",
    "dequantize_linear",
    "inputs_of",
    "named",
    "operand",
    "quantize_linear",
    "result",
    "tensor_of",
]


def named(node: NodeProto) -> str:
    """A node's name, or its output's where it has none."""
    return node.name or node.output[0]


def tensor_of(name: str, shape: tuple[int, ...], scale: npt.NDArray[Any], zero_point: npt.NDArray[Any]) -> Tensor:
    """A tensor by the scale and zero point of its Q or DQ, or of an operator on integers."""
    if scale.size != 1 or zero_point.size != 1:
        raise NotTakenError(f"{name!r} must have one scale and zero point, not of shape {list(scale.shape)}")
    if zero_point.dtype.name not in ("int8", "uint8"):
        given = zero_point.dtype.name
        raise NotTakenError(f"{name!r} must be of int8 or uint8, not of {given}: quantize activations to 8 bits")
    return Tensor(
        name=name,
        shape=shape,
        format=IntFormat.of(zero_point.dtype),
        scale=np.float32(scale.reshape(())[()]),
        zero_point=int(zero_point.reshape(())[()]),
    )


def inputs_of(graph: Graph, node: NodeProto, first: int, *roles: str) -> list[npt.NDArray[Any]]:
    """The constant inputs of `node` from the place `first` on, one for each of `roles`; all must be given."""
    names = [*node.input, *[""] * (first + len(roles))][first : first + len(roles)]
    for name, role in zip(names, roles, strict=True):
        if not name:
            raise NotTakenError(f"{role} must be given")
    return [graph.constant(name, role) for name, role in zip(names, roles, strict=True)]


def operand(reader: Reader, node: NodeProto, place: int, role: str) -> Tensor:
    """The integers at an input's place of an operator on integers, whose scale and zero point are the next two."""
    parameters = inputs_of(reader.graph, node, place + 1, f"{role}_scale", f"{role}_zero_point")
    name = node.input[place]
    if reader.graph.is_constant(name):
        value = reader.graph.constant(name, role)
        return tensor_of(name, value.shape, *parameters).replace(value=value)
    return counted(reader.integers(name), *parameters)


def result(reader: Reader, node: NodeProto, shape: tuple[int, ...], place: int) -> Tensor:
    """The output of an operator on integers, whose scale and zero point are at `place` and behind."""
    return tensor_of(node.output[0], shape, *inputs_of(reader.graph, node, place, "y_scale", "y_zero_point"))


def counted(tensor: Tensor, scale: npt.NDArray[Any], zero_point: npt.NDArray[Any]) -> Tensor:
    """`tensor` with another scale and zero point, of its own type."""
    found = tensor_of(tensor.name, tensor.shape, scale, zero_point)
    if found.format != tensor.format:
        raise NotTakenError(f"the zero point of {tensor.name!r} must be of {tensor.format}, not of {found.format}")
    return found


def constant_tensor(graph: Graph, name: str) -> Tensor:
    """The constant tensor `name` behind a DequantizeLinear, with one scale and zero point."""
    node = graph.producer(name)
    if node is None or not is_operator(node, "DequantizeLinear"):
        raise NotTakenError(f"the constant {name!r} must stand behind a DequantizeLinear, not be real numbers")
    value = graph.constant(node.input[0], f"the constant {name!r}")
    found = parameters_of(graph, node, "the constant", value.dtype)
    return tensor_of(node.input[0], value.shape, found.scale, found.zero_point).replace(value=value)


def of_format(node: NodeProto, x: Tensor, form: IntFormat, y: Tensor) -> tuple[Tensor, tuple[Node, ...]]:
    """`x` as a tensor of another type with the same real numbers, before `y`, and the table that moves its zero point.

    Only of types of 8 bits; there is no table if `x` is of that type.
    """
    if x.format == form:
        return x, ()
    moved = _of_type(x, form, f"{y.name}: {x.name} as {form}")
    return moved, (Table(name=f"{named(node)}: types", inputs=(x,), output=moved, entries=moved.codes),)


def as_format(node: NodeProto, y: Tensor, form: IntFormat) -> tuple[Tensor, tuple[Node, ...]]:
    """A tensor of another type with the real numbers of `y`, and the table behind it that moves its zero point to `y`.

    Only of types of 8 bits; there is no table if `y` is of that type.
    """
    if y.format == form:
        return y, ()
    inner = _of_type(y, form, f"{y.name}: as {form}")
    return inner, (Table(name=f"{named(node)}: type", inputs=(inner,), output=y, entries=y.codes),)


def _of_type(x: Tensor, form: IntFormat, name: str) -> Tensor:
    """A tensor of another type of as many bits, with the real numbers of `x`."""
    return x.replace(name=name, format=form, zero_point=x.zero_point + form.min - x.format.min)


def dequantize_linear(reader: Reader, node: NodeProto) -> Value:
    """Integers as the real numbers that the node defines."""
    tensor = reader.integers(node.input[0])
    found = parameters_of(reader.graph, node, "its input", tensor.format.dtype)
    return Real(tensor=counted(tensor, found.scale, found.zero_point))


def quantize_linear(reader: Reader, node: NodeProto, found: Parameters) -> Value:
    """The integers of the node's input, counted as `found` says: numbers of the host, a node's result, or other
    integers.
    """
    graph, (x, y) = reader.graph, (node.input[0], node.output[0])
    try:
        value = reader.value(x)
    except UnknownInputError:
        return _after_unknown(reader, node, tensor_of(y, (1,), found.scale, found.zero_point))
    if isinstance(value, Given):
        tensor = tensor_of(y, value.shape, found.scale, found.zero_point)
        reader.add_source(Source(name=value.name, shape=value.origin, movements=value.movements, tensor=tensor))
        return tensor
    if isinstance(value, Real):
        value = _of_integers(node, value.tensor)
    if not isinstance(value, Pending):
        raise NotTakenError(f"its input {x!r} must be computed from integers, not come from {graph.source(x)}")
    tensor = tensor_of(y, value.shape, found.scale, found.zero_point)
    _quantize(reader, node, value, tensor)
    return tensor


def _after_unknown(reader: Reader, node: NodeProto, tensor: Tensor) -> Value:
    """The integers behind a node that is not taken, so that others behind it can still be read; nothing makes them."""
    source = reader.graph.producer(node.input[0])
    if source is not None:
        reader.fold(node, source)
    shape = reader.graph.shape(node.input[0]) or [None]
    sizes = [size for size in shape if isinstance(size, int)]
    if len(sizes) < len(shape):
        return Unknown(source=reader.graph.source(node.input[0]))
    return tensor.replace(shape=sizes)


def _of_integers(node: NodeProto, x: Tensor) -> Pending:
    """A QuantizeLinear straight behind a DequantizeLinear: a table."""
    return Pending(node=node, shape=x.shape, make=lambda y: (_table(node, x, y),), table=(x, lambda real: real))


def _table(node: NodeProto, x: Tensor, y: Tensor) -> Table | Move:
    if x.counts_as(y):
        return Move(name=named(node), inputs=(x,), output=y, movement=Reshape(x.shape[1:]))
    return Table(name=named(node), inputs=(x,), output=y, entries=entries_of(x, y))


def _quantize(reader: Reader, node: NodeProto, value: Pending, y: Tensor) -> None:
    """Emit what `value` becomes with the output `y` of the QuantizeLinear `node`."""
    graph, x = reader.graph, node.input[0]
    alone = graph.has_one_use(x)
    if value.counts is not None and not (alone and value.counts.counts_as(y)):
        value = _of_integers(node, reader.tensor(x))
    elif not alone and value.node is not node:
        others = [label(user) for user in graph.consumers(x) if user is not node] or ["the graph's output"]
        raise NotTakenError(f"{label(value.node)} must go to this node alone, not also to {', '.join(others)}")
    reader.emit(value.node, _clamped(graph, node, value, y))
    if value.node is not node:
        reader.fold(node, value.node)


def _clamped(graph: Graph, node: NodeProto, value: Pending, y: Tensor) -> tuple[Node, ...]:
    """The result of `value` with the output `y` of the QuantizeLinear `node`.

    If a Relu or Clip before it restricts the range of `y`, a table clips the integers: QuantizeLinear rises, so that it
    may come before.
    """
    entries = y.codes
    for clamp in value.clamps:
        bounds = y.quantize(np.array(bounds_of(graph, clamp), np.float32))
        entries = np.minimum(np.maximum(entries, bounds[0]), bounds[1])
    if (entries == y.codes).all():
        return value.make(y)
    whole = y.replace(name=f"{y.name}: not clipped")
    made = (value.real or value.make)(whole)
    if not any(isinstance(each, Convolution | Dense | Multiplication | RealPair | ResidualSum) for each in made):
        low, high = (float(each) for each in y.dequantize(entries[[0, -1]]))
        raise NotTakenError(
            f"{label(value.clamps[0])} must be without effect before {label(node)} and behind {label(value.node)}, "
            f"which onnxruntime then computes in float, not cut its integers to those of {low:.6g} to {high:.6g}; "
            f"quantize the result of {label(value.node)} itself"
        )
    return (*made, Table(name=named(value.clamps[-1]), inputs=(whole,), output=y, entries=entries))


def numbers_of(graph: Graph, node: NodeProto, role: str) -> list[int] | None:
    """The whole numbers of a node's second input, else of its attribute axes; None where it has neither."""
    given = node.input[1] if len(node.input) > 1 else ""
    found: list[int] | None = graph.constant(given, role).reshape(-1).tolist() if given else attribute(node, "axes")
    return found


def bounds_of(graph: Graph, node: NodeProto) -> tuple[float, float]:
    """Least and greatest result of a Relu or Clip."""
    if node.op_type == "Relu":
        return 0.0, float("inf")
    bounds = []
    for place, name in enumerate(("min", "max"), 1):
        given = attribute(node, name)
        if len(node.input) > place and node.input[place]:
            array = graph.constant(node.input[place], f"{name} of {label(node)}")
            if array.size != 1:
                raise NotTakenError(f"{name} of {label(node)} must be one number, not of shape {list(array.shape)}")
            given = np.asarray(array, np.float32).reshape(())
        if given is not None and np.isnan(given):
            raise NotTakenError(f"{name} of {label(node)} must be a number, not NaN: leave it out for no bound")
        bounds.append(given)
    return (
        float("-inf") if bounds[0] is None else float(bounds[0]),
        float("inf") if bounds[1] is None else float(bounds[1]),
    )
