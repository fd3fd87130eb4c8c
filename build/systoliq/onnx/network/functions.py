"""Functions of one number: of a DequantizeLinear's result as tables, in QDQ form and of com.microsoft; arithmetic with
a constant number is one, too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.network import Move, Node, Reshape, Table, Tensor, functions
from systoliq.golden.network.table import Function

from ..constants import dequantized_constant
from ..graph import Graph
from ..node import NotTakenError, attribute, domain, is_operator
from ..quantized import parameters_of
from .channels import function_nodes
from .quantizers import bounds_of, named, operand, result
from .reader import Reader
from .values import Constant, Gains, Given, Make, Pending, Real, Value

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = [
    "FUNCTIONS",
    "FUSED_BIAS",
    "OF_MICROSOFT",
    "batch_normalization",
    "function",
    "given_alone",
    "given_constant",
    "prelu",
    "qlinear_function",
    "with_number",
]


def _alpha(name: str, default: float) -> Callable[[Graph, NodeProto], dict[str, float]]:
    return lambda graph, node: {name: float(attribute(node, name, default))}


def _second(name: str, role: str) -> Callable[[Graph, NodeProto], dict[str, float]]:
    def parameters(graph: Graph, node: NodeProto) -> dict[str, float]:
        number = given_constant(graph, node.input[1], role)
        if number.dtype != np.float32 or number.size != 1:
            raise NotTakenError(f"{role} must be one float32 number, not {number.dtype.name} {list(number.shape)}")
        return {name: float(number.reshape(()))}

    return parameters


def _approximate(graph: Graph, node: NodeProto) -> dict[str, str]:
    text = attribute(node, "approximate", b"none").decode()
    if text not in ("none", "tanh"):
        raise NotTakenError(f"approximate must be none or tanh, not {text!r}")
    return {"approximate": text}


def _no_bias(graph: Graph, node: NodeProto) -> dict[str, str]:
    if len(node.input) > 1 and node.input[1]:
        raise NotTakenError(FUSED_BIAS)
    return {"approximate": "tanh"}


def _no_parameters(graph: Graph, node: NodeProto) -> dict[str, float]:
    return {}


def _bounds(graph: Graph, node: NodeProto) -> dict[str, float]:
    least, most = bounds_of(graph, node)
    return {"least": least, "most": most}


_Read = tuple[Callable[..., Any], "Callable[[Graph, NodeProto], Mapping[str, float | str]]"]

FUNCTIONS: dict[str, _Read] = {
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

OF_MICROSOFT: dict[str, _Read] = {
    "Gelu": (functions.gelu, lambda graph, node: {"approximate": "none"}),
    "FastGelu": (functions.gelu, _no_bias),
    "QuickGelu": (functions.quick_gelu, _alpha("alpha", 1.702)),
}
"""The same of com.microsoft: what optimizers for transformers make of several nodes."""

FUSED_BIAS = "a bias and its function must be two nodes: quantize the model before an optimizer fuses them"

_ARITHMETIC = {"Add": functions.add, "Sub": functions.subtract, "Mul": functions.multiply, "Div": functions.divide}


def function(reader: Reader, node: NodeProto) -> Value:
    """A function of what a DequantizeLinear, or another function, gives: a table; a Relu or Clip also behind sums, and
    of integers.
    """
    value = reader.value(node.input[0])
    if isinstance(value, Tensor) and node.op_type in ("Relu", "Clip"):
        return _clipped_integers(reader, node, value)
    compute, parameters = (FUNCTIONS if domain(node) == "" else OF_MICROSOFT)[node.op_type]
    return _applied(reader, node, node.input[0], partial(compute, **parameters(reader.graph, node)))


def _clipped_integers(reader: Reader, node: NodeProto, x: Tensor) -> Tensor:
    """The integers `x` inside of the bounds of a Clip or Relu, which are integers, too."""
    least, most = bounds_of(reader.graph, node)
    y = x.replace(name=node.output[0], value=None)
    entries = np.clip(x.codes.astype(np.int64), max(least, x.format.min), min(most, x.format.max))
    entries = entries.astype(x.format.dtype)
    if (entries == x.codes).all():
        stage: Node = Move(name=named(node), inputs=(x,), output=y, movement=Reshape(x.shape[1:]))
    else:
        stage = Table(name=named(node), inputs=(x,), output=y, entries=entries)
    reader.emit(node, (stage,))
    return y


def prelu(reader: Reader, node: NodeProto) -> Value:
    """PRelu, whose slope is a constant number, or one for each channel."""
    if (given := given_alone([reader.value(name) for name in node.input])) is not None:
        return given
    found = given_constant(reader.graph, node.input[1], "its slope")
    slope = _by_channel(reader, node, found)
    if slope is None:
        raise NotTakenError(
            f"its slope must be one float32 number, or one for each channel, not {found.dtype.name} {list(found.shape)}"
        )
    return _applied(reader, node, node.input[0], partial(functions.leaky_relu, alpha=slope))


def batch_normalization(reader: Reader, node: NodeProto) -> Value:
    """BatchNormalization of a DequantizeLinear's result: a line for each channel."""
    if attribute(node, "training_mode", 0):
        raise NotTakenError("training_mode must be 0, not 1")
    value = reader.value(node.input[0])
    if isinstance(value, Pending) and value.table is None and value.counts is None and not _is_line(value):
        raise NotTakenError(
            f"its input must be quantized first, as onnxruntime computes both in float, not come from "
            f"{reader.graph.source(node.input[0])}; fold it before you quantize: "
            "onnxruntime.quantization.shape_inference.quant_pre_process"
        )
    roles = ("scale", "bias", "mean", "variance")
    scale, bias, mean, variance = (
        real_constant(reader.graph, name, role) for name, role in zip(node.input[1:], roles, strict=True)
    )
    gain, shift = functions.batch_normalization(scale, bias, mean, variance, float(attribute(node, "epsilon", 1e-5)))
    line = gain.astype(np.float64), shift.astype(np.float64)
    return _applied(reader, node, node.input[0], partial(functions.affine, gain=gain, shift=shift), line)


def given_alone(values: Sequence[Value]) -> Given | None:
    """The host's result for its own numbers and constants; None if there are other inputs."""
    given = [value for value in values if isinstance(value, Given)]
    if not given or not all(value is given[0] or isinstance(value, Constant) for value in values):
        return None
    return Given(name=given[0].name, origin=given[0].origin, shape=given[0].shape, movements=None)


def with_number(reader: Reader, node: NodeProto) -> Value | None:
    """Arithmetic with one constant float32 number as a function of the other operand; None for other arithmetic.

    A quotient has no operator on integers, so that its constant may stand behind a DequantizeLinear, too.
    """
    graph = reader.graph
    for place in (0, 1):
        name, other = node.input[place], node.input[1 - place]
        source = graph.producer(name)
        constant = graph.is_constant(name) or (node.op_type == "Div" and isinstance(reader.value(name), Constant))
        if not constant or graph.is_constant(other) or (source and source.op_type == "QuantizeLinear"):
            continue
        number = _by_channel(reader, node, given_constant(graph, name, "its constant"), other=other)
        if number is not None:
            compute = _ARITHMETIC[node.op_type]
            applied = partial(compute, number) if place == 0 else partial(_exchanged, compute, number)
            return _applied(reader, node, other, applied, _line(node.op_type, number, first=place == 0))
    return None


def _line(operator: str, number: npt.NDArray[np.float32], *, first: bool) -> tuple[Gains, Gains] | None:
    """Gain and shift of arithmetic with `number`, which is the first operand or the second; None for c / x."""
    c, one, zero = number.astype(np.float64), np.ones(number.shape), np.zeros(number.shape)
    if operator == "Div":
        return None if first or not c.all() else (1 / c, zero)
    return {"Mul": (c, zero), "Add": (one, c), "Sub": (-one, c) if first else (one, -c)}[operator]


def _by_channel(reader: Reader, node: NodeProto, given: npt.NDArray[Any], other: str = "") -> npt.NDArray[Any] | None:
    """A float32 constant next to the tensor `other`, by default the first input: one number, or one for each channel;
    else None.
    """
    value = reader.value(other or node.input[0])
    shape = value.tensor.shape if isinstance(value, Real) else value.shape if isinstance(value, Pending) else ()
    if given.dtype != np.float32:
        return None
    if given.size == 1 and given.ndim <= max(1, len(shape)):
        return given.reshape(())
    channels = (shape[1], *[1] * (len(shape) - 2)) if len(shape) > 1 else ()
    return given.reshape(-1) if given.shape in (channels, (1, *channels)) else None


def real_constant(graph: Graph, name: str, role: str) -> npt.NDArray[np.float32]:
    """The float32 constant `name` of one dimension, directly or through a DequantizeLinear."""
    real = given_constant(graph, name, f"its {role}")
    if real.dtype != np.float32 or real.ndim != 1:
        raise NotTakenError(f"its {role} must be float32 of one dimension, not {real.dtype.name} {list(real.shape)}")
    return real


def given_constant(graph: Graph, name: str, role: str) -> npt.NDArray[Any]:
    """The constant `name`, directly or through a DequantizeLinear of one scale or one per channel."""
    node = graph.producer(name)
    if node is None or not is_operator(node, "DequantizeLinear"):
        return graph.constant(name, role)
    stored = graph.constant(node.input[0], role)
    found = parameters_of(graph, node, role, stored.dtype)
    return dequantized_constant(node, role, stored, found.scale, found.zero_point)


def _exchanged(compute: Callable[[Any, Any], Any], number: Any, x: Any) -> Any:
    return compute(x, number)


def _applied(
    reader: Reader, node: NodeProto, name: str, applied: Function, line: tuple[Gains, Gains] | None = None
) -> Value:
    """`applied` to the tensor `name`; `line`: gain and shift of it, by channel, if it is one."""
    value = reader.value(name)
    if isinstance(value, Given):
        return Given(name=value.name, origin=value.origin, shape=value.shape, movements=None)
    if isinstance(value, Pending) and value.counts is None:
        return _behind(reader, node, name, value, applied, line)
    x = reader.tensor(name)
    return Pending(node=node, shape=x.shape, make=_table(node, x, applied), table=(x, applied))


def _behind(
    reader: Reader,
    node: NodeProto,
    name: str,
    value: Pending,
    applied: Function,
    line: tuple[Gains, Gains] | None,
) -> Pending:
    reader.fold(node, value.node)
    reader.expect_one_use(name)
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
    if value.line is not None and line is not None and _is_line(value):
        channels = value.shape[1]
        gain, shift = (np.broadcast_to(each, channels) for each in line)
        return dataclasses.replace(value.line(gain, shift), followers=value.followers + 1)
    if node.op_type not in ("Relu", "Clip"):
        raise NotTakenError(
            f"its input must be quantized first, as onnxruntime would compute both in float, not come from "
            f"{reader.graph.source(name)}: put a QuantizeLinear and a DequantizeLinear between them"
        )
    return Pending(
        node=value.node,
        shape=value.shape,
        make=value.make,
        real=value.real,
        line=value.line,
        clamps=(*value.clamps, node),
        followers=value.followers + 1,
    )


def _is_line(value: Pending) -> bool:
    """True if gains and shifts may follow `value`, which no Relu or Clip does."""
    return value.line is not None and not value.clamps


def _table(node: NodeProto, x: Tensor, applied: Function) -> Make:
    return lambda y: function_nodes(node, x, y, applied)


def qlinear_function(reader: Reader, node: NodeProto) -> Value:
    """Inputs: x, x_scale, x_zero_point, y_scale, y_zero_point."""
    compute, parameters = FUNCTIONS[node.op_type.removeprefix("QLinear")]
    x = operand(reader, node, 0, "x")
    y = result(reader, node, x.shape, 3)
    reader.emit(node, _table(node, x, partial(compute, **parameters(reader.graph, node)))(y))
    return y
