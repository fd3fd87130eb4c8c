"""Add, Mul, Sub, Min and Max of two tensors, in QDQ form and Add and Mul of com.microsoft; one may be constant."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from systoliq.golden.network import Addition, Multiplication, Node, RealPair, Tensor

from ..node import NotTakenError, label
from .functions import given_alone, with_number
from .quantizers import as_format, constant_tensor, named, of_format, operand, result
from .reader import Reader
from .values import Constant, Given, Make, Pending, Value

if TYPE_CHECKING:
    from onnx import NodeProto

Pairing = Callable[..., Node]
_MOST_APART = 1000

__all__ = ["add", "div", "extremum", "mul", "qlinear_add", "qlinear_mul", "sub"]


def add(reader: Reader, node: NodeProto) -> Value:
    """Sum of two tensors, one of which may be constant; or of a matrix product and a constant bias."""
    values = [reader.value(name) for name in node.input]
    for value, other in (values, values[::-1]):
        if isinstance(value, Pending) and value.biased is not None and isinstance(other, Constant):
            if not reader.graph.has_one_use(node.input[values.index(value)]):
                raise NotTakenError("the product that it adds a bias to must have this one use")
            reader.fold(node, value.node)
            return Pending(node=value.node, shape=value.shape, make=value.biased(other.name))
    return with_number(reader, node) or _residual(reader, node, values) or _binary(reader, node, values, Addition)


def _residual(reader: Reader, node: NodeProto, values: list[Value]) -> Value | None:
    """The sum of a convolution that is not quantized and a tensor that is; None if the operands are others."""
    for place, value in enumerate(values):
        if not isinstance(value, Pending) or value.plus is None or isinstance(values[1 - place], Constant | Given):
            continue
        reader.expect_one_use(node.input[place])
        made = value.plus(reader.tensor(node.input[1 - place]))
        reader.fold(node, value.node)
        return Pending(node=value.node, shape=value.shape, make=made, followers=value.followers + 1)
    return None


def mul(reader: Reader, node: NodeProto) -> Value:
    """Product of two tensors, one of which may be constant."""
    found = with_number(reader, node)
    return found or _binary(reader, node, [reader.value(name) for name in node.input], Multiplication)


def sub(reader: Reader, node: NodeProto) -> Value:
    """Difference of two tensors, one of which may be constant; onnxruntime computes it in float32."""
    found = with_number(reader, node)
    values = [reader.value(name) for name in node.input]
    mean = reader.graph.producer(node.input[1])
    of_input = mean is not None and mean.op_type == "ReduceMean" and mean.input[0] == node.input[0]
    if mean is not None and of_input and isinstance(values[1], Pending):
        raise NotTakenError(
            f"it subtracts the mean of its input, which onnxruntime leaves in float ({label(mean)}), as exporters "
            "write LayerNormalization below opset 17: export with opset 17 or later"
        )
    return found or _binary(reader, node, values, partial(RealPair, function="difference"))


def div(reader: Reader, node: NodeProto) -> Value:
    """Quotient of a tensor and a constant number, or one for each channel: a table."""
    values = [reader.value(name) for name in node.input]
    found = given_alone(values) or with_number(reader, node)
    if found is None:
        text = (
            "one of its inputs must be a constant number, float32, or one for each channel, and the other be computed"
        )
        if not any(isinstance(value, Constant) for value in values):
            text += ", not both, which onnxruntime computes in float: before you quantize, multiply by the Reciprocal "
            text += "instead"
        raise NotTakenError(text)
    return found


def extremum(reader: Reader, node: NodeProto) -> Value:
    """Min and Max of two tensors, one of which may be constant."""
    if len(node.input) != 2:
        raise NotTakenError(f"it must have two inputs, not {len(node.input)}: join them two by two")
    values = [reader.value(name) for name in node.input]
    for value, name in zip(values, node.input, strict=True):
        if isinstance(value, Constant) and _is_number(reader, name):
            raise NotTakenError(f"its constant {name!r} must stand behind a DequantizeLinear; use Clip for one number")
    make = partial(RealPair, function="minimum" if node.op_type == "Min" else "maximum")
    return _binary(reader, node, values, make)


def _is_number(reader: Reader, name: str) -> bool:
    source = reader.graph.producer(name)
    return source is None or source.op_type != "DequantizeLinear"


def _binary(reader: Reader, node: NodeProto, values: list[Value], kind: Pairing) -> Value:
    if (given := given_alone(values)) is not None:
        return given
    a, b = (
        constant_tensor(reader.graph, name) if isinstance(value, Constant) else reader.tensor(name)
        for name, value in zip(node.input, values, strict=True)
    )
    make, shape = _of_two(node, a, b, kind)
    if kind is Multiplication:
        real = _product(node, a, b)
    else:
        real = _in_float(node, a, b, partial(RealPair, function="sum") if kind is Addition else kind)

    def either(y: Tensor) -> tuple[Node, ...]:
        """Integers for tensors of one type, which QLinearAdd and QLinearMul take; else float32."""
        integral = kind is Addition or kind is Multiplication
        return make(y) if integral and a.format == b.format == y.format else real(y)

    return Pending(node=node, shape=shape, make=either, real=real)


def qlinear_add(reader: Reader, node: NodeProto) -> Value:
    """Inputs: a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point."""
    return _qlinear_binary(reader, node, Addition)


def qlinear_mul(reader: Reader, node: NodeProto) -> Value:
    """Product of quantized tensors; inputs as for QLinearAdd."""
    return _qlinear_binary(reader, node, Multiplication)


def _qlinear_binary(reader: Reader, node: NodeProto, kind: Pairing) -> Value:
    a, b = operand(reader, node, 0, "a"), operand(reader, node, 3, "b")
    make, shape = _of_two(node, a, b, kind)
    y = result(reader, node, shape, 6)
    reader.emit(node, make(y))
    return y


def _of_two(node: NodeProto, a: Tensor, b: Tensor, kind: Pairing) -> tuple[Make, tuple[int, ...]]:
    exchanged = {"exchanged": True} if kind is Addition and _repeats(a.shape, b.shape) else {}
    try:
        shape = tuple(np.broadcast_shapes(a.shape, b.shape))
    except ValueError:
        raise NotTakenError(f"its inputs must broadcast, and {list(a.shape)} and {list(b.shape)} do not") from None

    def make(y: Tensor) -> tuple[Node, ...]:
        return (kind(name=named(node), inputs=(a, b), output=y, **exchanged),)

    return make, shape


def _in_float(node: NodeProto, a: Tensor, b: Tensor, kind: Pairing) -> Make:
    """Two tensors in float32, one of them brought to the other's type."""

    def make(y: Tensor) -> tuple[Node, ...]:
        first, second = (b, a) if a.value is not None else (a, b)  # a constant has nothing before it
        first, moves = of_format(node, first, second.format, y)
        inputs = (second, first) if a.value is not None else (first, second)
        return (*moves, kind(name=named(node), inputs=inputs, output=y))

    return make


def _product(node: NodeProto, a: Tensor, b: Tensor) -> Make:
    """The integers of a product, between tables of types, where they are what float32 gives for nearly all pairs."""

    def make(y: Tensor) -> tuple[Node, ...]:
        form = b.format if a.value is None else a.format  # a constant has nothing before it
        inner, after = as_format(node, y, form)
        (*before, product) = _in_float(node, a, b, Multiplication)(inner)
        first, second = (x.codes for x in product.inputs)
        pairs = (x.reshape(shape) for x, shape in ((first, (-1, 1)), (second, (1, -1))))
        integers = product.apply(*np.broadcast_arrays(*pairs)).astype(np.int64)
        reals = np.multiply.outer(product.inputs[0].dequantize(first), product.inputs[1].dequantize(second))
        apart = int((integers - inner.zero_point + y.zero_point != y.quantize(reals)).sum())
        if apart > integers.size // _MOST_APART:
            raise NotTakenError(
                f"onnxruntime computes {label(node)} in float32, because its types differ or a Relu or Clip cuts its "
                f"result; at most 1 in {_MOST_APART} products of integers may then round to another result, not "
                f"{apart} of {integers.size}: quantize its result itself, with the type of both inputs"
            )
        return (*before, product, *after)

    return make


def _repeats(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """True if onnxruntime repeats single elements of a along the last dimensions of b: it then exchanges both."""
    last = next((i for i in range(1, len(b) + 1) if b[-i] != 1), None)
    return last is not None and (last > len(a) or a[-last] == 1)
