"""Convolutions and matrix products: QLinearConv, QLinearMatMul, QGemm; Conv, MatMul and Gemm between DQ and Q."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import Convolution, Dense, Move, Node, Reshape, Tensor, Window
from systoliq.golden.network.convolution import columns_of_kernels

from ..dense import check_attributes
from ..narrow import NARROW_TYPES, in_bytes
from ..node import (
    BetweenMultiplesError,
    NotTakenError,
    attribute,
    channel_axis,
    is_operator,
    label,
    layer_name,
    together,
)
from ..quantized import Parameters, bias_of, parameters_of, real_bias, weights
from .lines import Layers, layer_of_line
from .quantizers import counted, inputs_of, named, operand, result, tensor_of
from .reader import Reader
from .residuals import residual_sum
from .rows import as_image, lowered, outer_shape
from .two_operands import computed_matmul, computed_qlinear_matmul
from .values import ByChannel, Constant, Gains, Line, Make, Pending, Value

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = [
    "conv",
    "dense",
    "dense_operator",
    "image_of",
    "kernels_of",
    "layer_of_sum",
    "parameters_of_tensor",
    "qlinear_conv",
    "two",
    "window_of",
]


def qlinear_conv(reader: Reader, node: NodeProto) -> Value:
    """Inputs: x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, bias or ''."""
    x = operand(reader, node, 0, "x")
    w, w_scale, w_zero_point = inputs_of(reader.graph, node, 3, "w", "w_scale", "w_zero_point")
    bias = reader.graph.constant(node.input[8], "bias") if len(node.input) > 8 and node.input[8] else None
    found = Parameters(scale=w_scale.reshape(-1), zero_point=w_zero_point.reshape(-1))
    sliding = _Sliding.of(reader, node, x, w)
    y = result(reader, node, sliding.outer_shape, 6)
    reader.emit(node, sliding.convolution(layer_of_sum(node, x, sliding.columns, found, bias))(y))
    return y


def conv(reader: Reader, node: NodeProto) -> Value:
    """Inputs: x behind a DequantizeLinear, w and bias behind theirs, constant."""
    graph = reader.graph
    value = reader.value(node.input[0])  # where that is unknown, it is the one reason
    x, (w, found) = together(lambda: reader.tensor(node.input[0]), lambda: kernels_of(reader, node))
    if isinstance(value, ByChannel):
        found = _by_input(node, value, found, len(w))
    bias = node.input[2] if len(node.input) > 2 else ""
    sliding = _Sliding.of(reader, node, x, w)
    shape, ones = sliding.outer_shape, np.ones(len(w))
    real = real_bias(graph, bias, len(w)).astype(np.float64) if bias else np.zeros(len(w))

    def pending(layer: Layers, gain: Gains, shift: Gains) -> Pending:
        made, behind = sliding.convolution(layer), _then(line, gain, shift)
        return Pending(node=node, shape=shape, make=made, line=behind, plus=sliding.plus(reader, found, gain, shift))

    def line(gain: Gains, shift: Gains) -> Pending:
        return pending(layer_of_line(node, x, sliding.columns, found, gain, shift), gain, shift)

    if isinstance(value, ByChannel):
        return line(ones, real)
    try:
        whole = bias_of(graph, bias, parameters_of_tensor(x), found, len(w)) if bias else None
    except BetweenMultiplesError:
        return line(ones, real)
    return pending(layer_of_sum(node, x, sliding.columns, found, whole), ones, real)


def _by_input(node: NodeProto, value: ByChannel, found: Parameters, outputs: int) -> Parameters:
    """The parameters of weights, multiplied by the scales of the channels that they see."""
    groups = int(attribute(node, "group", 1))
    if groups != len(value.scales) or outputs % groups:
        raise NotTakenError(
            f"it must be depthwise, of {len(value.scales)} groups, as its input has a scale for each channel, not of "
            f"{groups}"
        )
    ratios = np.repeat(value.scales.astype(np.float64) / float(value.tensor.scale), outputs // groups)
    return Parameters(scale=(found.scale * ratios).astype(np.float32), zero_point=found.zero_point)


def _then(line: Line, gain: Gains, shift: Gains) -> Line:
    """Return `line` behind `gain` and `shift`."""

    def both(more: Gains, moved: Gains) -> Pending:
        with np.errstate(all="ignore"):  # infinities, which `layer_of_line` refuses
            return line(gain * more, shift * more + moved)

    return both


@dataclass(frozen=True, kw_only=True, eq=False)
class _Sliding:
    """A convolution of `x`, of one or two spatial dimensions, as the image `image`; `columns`: its weights [K, N]."""

    node: NodeProto
    x: Tensor
    image: Tensor
    window: Window
    groups: int
    shape: tuple[int, ...]
    columns: npt.NDArray[Any]

    @classmethod
    def of(cls, reader: Reader, node: NodeProto, x: Tensor, w: npt.NDArray[Any]) -> _Sliding:
        """Return the convolution that the attributes of `node` mean."""
        if len(x.shape) not in (3, 4):
            raise NotTakenError(f"it must have 1 or 2 spatial dimensions, not an input of the shape {list(x.shape)}")
        if w.ndim != len(x.shape):
            raise NotTakenError(
                f"the weights must have {len(x.shape)} dimensions, as its input has, not {list(w.shape)}"
            )
        window, groups, shape = _geometry(node, x.shape, w.shape)
        image = as_image(reader, node, x)
        columns = columns_of_kernels(w.reshape(*w.shape[:2], *window.kernel))
        return cls(node=node, x=x, image=image, window=window, groups=groups, shape=shape, columns=columns)

    @property
    def outer_shape(self) -> tuple[int, ...]:
        """The shape of the result, with as many dimensions as `x`."""
        return outer_shape(self.x, self.shape)

    def convolution(self, layer: Layers) -> Make:
        """Return what makes the operator of a layer."""

        def make(y: Tensor) -> tuple[Node, ...]:
            inputs, name, sums = (self.image,), named(self.node), layer(y)
            return (
                Convolution(name=name, inputs=inputs, output=y, window=self.window, groups=self.groups, layer=sums),
            )

        return lowered(self.node, self.x, self.shape, make)[1]

    def plus(self, reader: Reader, found: Parameters, gain: Gains, shift: Gains) -> Callable[[Tensor], Make]:
        """Return what adds a tensor to gain * (sum of products) + shift, before it is quantized."""

        def adds(addend: Tensor) -> Make:
            if addend.shape != self.outer_shape:
                raise NotTakenError(
                    f"its inputs must be of one shape, as {label(self.node)} is not quantized before it, not "
                    f"{list(self.outer_shape)} and {list(addend.shape)}"
                )
            if not (np.isfinite(gain) & (gain > 0)).all():
                raise NotTakenError(f"the gain of each channel behind {label(self.node)} must be positive and finite")
            scaled = Parameters(scale=(found.scale * gain).astype(np.float32), zero_point=found.zero_point)
            layer = layer_of_sum(self.node, self.x, self.columns, scaled, None)
            added = as_image(reader, self.node, addend)

            def make(y: Tensor) -> tuple[Node, ...]:
                window, groups, sums = self.window, self.groups, layer(y)
                return residual_sum(
                    self.node, self.image, added, y, window=window, groups=groups, layer=sums, bias=shift
                )

            return lowered(self.node, self.x, self.shape, make)[1]

        return adds


def kernels_of(reader: Reader, node: NodeProto, *, axis: int = 0) -> tuple[npt.NDArray[Any], Parameters]:
    """Return the weights behind their DequantizeLinear, as [M, C / groups, rows, columns] of a Conv, with parameters.

    Raises NotTakenError if these are not one, or one per output channel, the dimension `axis`.
    """
    graph, name = reader.graph, node.input[1]
    source = graph.producer(name)
    if source is None or not is_operator(source, "DequantizeLinear"):
        raise NotTakenError(
            f"the weights must come from a DequantizeLinear, not from {graph.source(name)}: quantize this node, too; "
            "ConvTranspose can be quantized in the QDQ format only"
        )
    w = graph.constant(source.input[0], "the weights")
    found = parameters_of(graph, source, "the weights", w.dtype)
    along = channel_axis(source, found.scale, w.shape)
    if along not in (None, axis):
        raise NotTakenError(
            f"the weights must have one scale or one per output channel, axis {axis}, not along axis {along}"
        )
    return w, Parameters(scale=found.scale.reshape(-1), zero_point=found.zero_point.reshape(-1))


def _geometry(node: NodeProto, x: tuple[int, ...], w: tuple[int, ...]) -> tuple[Window, int, tuple[int, ...]]:
    """The window, the groups and the output's shape of a convolution, as an image."""
    kernel = attribute(node, "kernel_shape", list(w[2:]))
    if list(kernel) != list(w[2:]):
        raise NotTakenError(f"kernel_shape must be that of the weights, {list(w[2:])}, not {list(kernel)}")
    groups = int(attribute(node, "group", 1))
    if groups * w[1] != x[1]:
        raise NotTakenError(
            f"weights for {w[1]} channels in {groups} groups must fit the input's {x[1]} channels, and do not"
        )
    window = window_of(node, x[2:], w[2:])
    return window, groups, (x[0], w[0], *window.positions(image_of(x[2:])))


def image_of(spatial: Sequence[int]) -> tuple[int, int]:
    """Rows and columns of one or two spatial dimensions."""
    return (1, spatial[0]) if len(spatial) == 1 else (spatial[0], spatial[1])


def window_of(node: NodeProto, spatial: Sequence[int], kernel: Sequence[int] | None) -> Window:
    """The window that the attributes of a convolution or pool mean for these sizes, one or two."""
    if kernel is None:
        raise NotTakenError("kernel_shape must be given")
    auto_pad = attribute(node, "auto_pad", b"NOTSET").decode()
    dilations = two(node, "dilations", spatial, attribute(node, "dilations", (1,) * len(spatial)))
    if auto_pad.startswith("SAME") and any(step != 1 for step in dilations):
        raise NotTakenError(f"auto_pad must be NOTSET or VALID beside dilations {list(dilations)}, not {auto_pad}")
    return Window.of(
        image_of(spatial),
        kernel=two(node, "kernel_shape", spatial, kernel),
        strides=two(node, "strides", spatial, attribute(node, "strides", (1,) * len(spatial))),
        dilations=dilations,
        pads=two(node, "pads", spatial, attribute(node, "pads", (0,) * (2 * len(spatial)))),
        auto_pad=auto_pad,
        ceil_mode=bool(attribute(node, "ceil_mode", 0)),
    )


def two(node: NodeProto, name: str, spatial: Sequence[int], given: Sequence[int]) -> Sequence[int]:
    """The attribute `name` as for two spatial dimensions."""
    count = (2 if name == "pads" else 1) * len(spatial)
    if len(given) != count:
        raise NotTakenError(f"{name} must be {count} numbers for the input's shape, not {list(given)}")
    if len(spatial) == 2:
        return given
    return (0, given[0], 0, given[1]) if name == "pads" else (1, given[0])


def dense(reader: Reader, node: NodeProto) -> Value:
    """A Gemm or MatMul of a computed tensor and constants; an Add of a constant bias may follow. Or a MatMul of two
    computed tensors.
    """
    bias = reader.operators.of(node).given(node).get("bias") or None
    check_attributes(node, beta=bias is not None)
    graph = reader.graph
    if node.op_type == "MatMul" and not any(isinstance(reader.value(name), Constant) for name in node.input):
        return computed_matmul(reader, node)
    if isinstance(reader.value(node.input[0]), Constant) or not isinstance(reader.value(node.input[1]), Constant):
        raise NotTakenError("its first input must be computed and its second constant: rows arrive, weights stay")
    transposed = bool(attribute(node, "transB", 0))
    x, (b, found) = together(
        lambda: reader.tensor(node.input[0]), lambda: weights(graph, node.input[1], transposed=transposed)
    )

    def biased(name: str | None) -> Make:
        constant = None if name is None else bias_of(graph, name, parameters_of_tensor(x), found, b.shape[1])
        layer = layer_of_sum(node, x, b, found, constant)
        return lambda y: _of_rows(named(node), x, y, layer(y))

    shape = (*x.shape[:-1], b.shape[1])
    return Pending(node=node, shape=shape, make=biased(bias), biased=None if bias else biased)


def dense_operator(reader: Reader, node: NodeProto) -> Value:
    """QLinearMatMul and QGemm; all but the first input are constant, or the second of a QLinearMatMul is computed."""
    if node.op_type == "QLinearMatMul" and not reader.graph.is_constant(node.input[3]):
        return computed_qlinear_matmul(reader, node)
    source = reader.integers(node.input[0])
    fields = reader.operators.of(node).fields(reader.graph, node)
    layer = MatMulLayer(name=layer_name(named(node)), **fields)
    _ = layer.canonical
    x = counted(source, fields["a_scale"], fields["a_zero_point"])
    shape = (*x.shape[:-1], layer.n)
    y = tensor_of(node.output[0], shape, fields["y_scale"], fields["y_zero_point"])
    reader.emit(node, _of_rows(named(node), x, y, layer))
    return y


def _of_rows(name: str, x: Tensor, y: Tensor, layer: MatMulLayer) -> tuple[Node, ...]:
    """A dense layer, between reshapes that make all rows one dimension, where they have more."""
    if len(x.shape) <= 3:
        return (Dense(name=name, inputs=(x,), output=y, layer=layer),)
    rows, made = (
        each.replace(
            name=f"{y.name}: rows of {role}", shape=(each.shape[0], math.prod(each.shape[1:-1]), each.shape[-1])
        )
        for role, each in (("input", x), ("output", y))
    )
    return (
        Move(name=f"{name}: rows", inputs=(x,), output=rows, movement=Reshape(rows.shape[1:])),
        Dense(name=name, inputs=(rows,), output=made, layer=layer),
        Move(name=f"{name}: no rows", inputs=(made,), output=y, movement=Reshape(y.shape[1:])),
    )


def parameters_of_tensor(x: Tensor) -> Parameters:
    """Return the scale and zero point of `x`."""
    return Parameters(scale=np.asarray(x.scale), zero_point=np.asarray(x.zero_point, x.format.dtype))


def layer_of_sum(
    node: NodeProto, x: Tensor, b: npt.NDArray[Any], found: Parameters, bias: npt.NDArray[Any] | None
) -> Layers:
    """The layer of a sum, once its output is known."""
    if b.dtype.name not in ("int8", "uint8", *NARROW_TYPES):
        raise NotTakenError(f"the weights must be of integers of 2, 4 or 8 bits, not of {b.dtype.name}")
    of_weights = in_bytes({"b": b, "b_scale": found.scale, "b_zero_point": found.zero_point})

    def layer(y: Tensor) -> MatMulLayer:
        made = MatMulLayer(
            name=layer_name(named(node)),
            **of_weights,
            a_scale=x.scale,
            a_zero_point=x.zero_point,
            y_scale=y.scale,
            y_zero_point=y.zero_point,
            bias=bias,
            a_format=x.format,
            y_format=y.format,
        )
        _ = made.canonical  # a ValueError where hardware has no constants for its scales
        return made

    return layer
