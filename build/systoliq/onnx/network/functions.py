"""Functions of one number: of a DequantizeLinear's result as tables, in QDQ form and of com.microsoft; arithmetic with
a constant number is one, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from systoliq.golden.network import Node, Table, Tensor, functions
from systoliq.golden.network.table import Function, entries_of

from ..graph import Graph
from ..node import NotTakenError, attribute
from .quantizers import bounds_of, named, operand, result
from .reader import Reader
from .values import Constant, Given, Make, Pending, Value

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["FUNCTIONS", "arithmetic", "function", "given_alone", "qlinear_function", "with_number"]


def _alpha(name: str, default: float) -> Callable[[Graph, NodeProto], dict[str, float]]:
    return lambda graph, node: {name: float(attribute(node, name, default))}


def _second(name: str, role: str) -> Callable[[Graph, NodeProto], dict[str, float]]:
    def parameters(graph: Graph, node: NodeProto) -> dict[str, float]:
        number = graph.constant(node.input[1], role)
        if number.dtype != np.float32 or number.size != 1:
            raise NotTakenError(f"{role} must be one float32 number, not {number.dtype.name} {list(number.shape)}")
        return {name: float(number.reshape(()))}

    return parameters


def _approximate(graph: Graph, node: NodeProto) -> dict[str, str]:
    text = attribute(node, "approximate", b"none").decode()
    if text not in ("none", "tanh"):
        raise NotTakenError(f"approximate must be none or tanh, not {text!r}")
    return {"approximate": text}


def _no_parameters(graph: Graph, node: NodeProto) -> dict[str, float]:
    return {}


def _bounds(graph: Graph, node: NodeProto) -> dict[str, float]:
    least, most = bounds_of(graph, node)
    return {"least": least, "most": most}


FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[[Graph, NodeProto], Mapping[str, float | str]]]] = {
    "Relu": (functions.relu, _no_parameters),
    "Clip": (functions.clip, _bounds),
    "LeakyRelu": (functions.leaky_relu, _alpha("alpha", 0.01)),
    "Sigmoid": (functions.sigmoid, _no_parameters),
    "Tanh": (functions.tanh, _no_parameters),
    "HardSigmoid": (
        functions.hard_sigmoid,
        lambda graph, node: {"alpha": attribute(node, "alpha", 0.2), "beta": attribute(node, "beta", 0.5)},
    ),
    "HardSwish": (functions.hard_swish, _no_parameters),
    "ThresholdedRelu": (functions.thresholded_relu, _alpha("alpha", 1.0)),
    "PRelu": (functions.leaky_relu, _second("alpha", "its slope")),
    "Elu": (functions.elu, _alpha("alpha", 1.0)),
    "Selu": (
        functions.selu,
        lambda graph, node: {
            "alpha": attribute(node, "alpha", 1.6732632423543772),
            "gamma": attribute(node, "gamma", 1.0507009873554805),
        },
    ),
    "Softplus": (functions.softplus, _no_parameters),
    "Softsign": (functions.softsign, _no_parameters),
    "Mish": (functions.mish, _no_parameters),
    "Gelu": (functions.gelu, _approximate),
    "Erf": (functions.erf, _no_parameters),
    "Exp": (functions.exp, _no_parameters),
    "Pow": (functions.power, _second("exponent", "its exponent")),
    "Abs": (np.abs, _no_parameters),
    "Neg": (np.negative, _no_parameters),
    "Sqrt": (functions.sqrt, _no_parameters),
    "Reciprocal": (functions.reciprocal, _no_parameters),
    "Floor": (np.floor, _no_parameters),
    "Ceil": (np.ceil, _no_parameters),
    "Round": (np.rint, _no_parameters),
    "Sign": (np.sign, _no_parameters),
}
"""Operators of ONNX that are functions of one number, and what reads their parameters."""

_ARITHMETIC = {"Add": functions.add, "Sub": functions.subtract, "Mul": functions.multiply, "Div": functions.divide}


def function(reader: Reader, node: NodeProto) -> Value:
    """A function of what a DequantizeLinear, or another function, gives: a table; a Relu or Clip also behind sums."""
    compute, parameters = FUNCTIONS[node.op_type]
    return _applied(reader, node, node.input[0], partial(compute, **parameters(reader.graph, node)))


def arithmetic(reader: Reader, node: NodeProto) -> Value:
    """Sub and Div, of which one operand is a constant number: a table, too."""
    values = [reader.value(name) for name in node.input]
    found = given_alone(values) or with_number(reader, node)
    if found is None:
        raise NotTakenError("one of its inputs must be a constant number, float32, and the other be computed")
    return found


def given_alone(values: Sequence[Value]) -> Given | None:
    """What the host computes of numbers of its own and constants; None where there is anything else."""
    given = [value for value in values if isinstance(value, Given)]
    if not given or not all(value is given[0] or isinstance(value, Constant) for value in values):
        return None
    return Given(name=given[0].name, origin=given[0].origin, shape=given[0].shape, movements=None)


def with_number(reader: Reader, node: NodeProto) -> Value | None:
    """Arithmetic with one constant float32 number as a function of the other operand; None where it is no such."""
    graph = reader.graph
    for place in (0, 1):
        name, other = node.input[place], node.input[1 - place]
        source = graph.producer(name)
        if not graph.is_constant(name) or graph.is_constant(other) or (source and source.op_type == "QuantizeLinear"):
            continue
        number = graph.constant(name, "its constant")
        if number.dtype == np.float32 and number.size == 1 and number.ndim <= 1:
            compute = _ARITHMETIC[node.op_type]
            scalar = number.reshape(())
            applied = partial(compute, scalar) if place == 0 else partial(_exchanged, compute, scalar)
            return _applied(reader, node, other, applied)
    return None


def _exchanged(compute: Callable[[Any, Any], Any], number: Any, x: Any) -> Any:
    return compute(x, number)


def _applied(reader: Reader, node: NodeProto, name: str, applied: Function) -> Value:
    """`applied` to the tensor `name`."""
    value = reader.value(name)
    if isinstance(value, Given):
        return Given(name=value.name, origin=value.origin, shape=value.shape, movements=None)
    if isinstance(value, Pending) and value.counts is None:
        return _behind(reader, node, name, value, applied)
    x = reader.tensor(name)
    return Pending(node=node, shape=x.shape, make=_table(node, x, applied), table=(x, applied))


def _behind(reader: Reader, node: NodeProto, name: str, value: Pending, applied: Function) -> Pending:
    reader.fold(node, value.node)
    if len(reader.graph.consumers(name)) != 1 or reader.graph.is_output(name):
        raise NotTakenError(f"its input {name!r} must have this one use, as it is not yet quantized")
    if value.table is not None:
        x, before = value.table

        def both(real: Any) -> Any:
            return applied(before(real))

        return Pending(
            node=value.node,
            shape=value.shape,
            make=_table(value.node, x, both),
            table=(x, both),
            followers=value.followers + 1,
        )
    if node.op_type not in ("Relu", "Clip"):
        raise NotTakenError(
            f"its input must be quantized first, as onnxruntime would compute both in float, not come from "
            f"{reader.graph.source(name)}"
        )
    return Pending(
        node=value.node, shape=value.shape, make=value.make, clamps=(*value.clamps, node), followers=value.followers + 1
    )


def _table(node: NodeProto, x: Tensor, applied: Function) -> Make:
    def make(y: Tensor) -> tuple[Node, ...]:
        return (Table(name=named(node), inputs=(x,), output=y, entries=entries_of(x, y, applied)),)

    return make


def qlinear_function(reader: Reader, node: NodeProto) -> Value:
    """Inputs: x, x_scale, x_zero_point, y_scale, y_zero_point."""
    compute, parameters = FUNCTIONS[node.op_type.removeprefix("QLinear")]
    x = operand(reader, node, 0, "x")
    y = result(reader, node, x.shape, 3)
    reader.emit(node, _table(node, x, partial(compute, **parameters(reader.graph, node)))(y))
    return y
