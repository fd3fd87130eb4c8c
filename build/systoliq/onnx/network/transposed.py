"""ConvTranspose between DequantizeLinear and QuantizeLinear: a convolution of its phases, interleaved.

    x [batch, C, H, W]
    Convolution    y: phases [batch, groups * s * s * M / groups, rows, columns]
    Move           y [batch, M, s * rows, s * columns], without the first and last ones where they are not the result's

With strides of s, each pixel of the result is a sum of every s-th weight only, by its phase: its row and column modulo
s. So a window of about kernel / s pixels holds all pixels that the s * s results of one place are sums of.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import Convolution, Move, Node, Reshape, Tensor, Transpose, Window
from systoliq.golden.network.convolution import columns_of_kernels
from systoliq.golden.network.moves import Chain, Gather, Movement

from ..node import NotTakenError, attribute, check_elements, together
from ..quantized import Parameters, bias_of
from .quantizers import named
from .reader import Reader
from .rows import as_image, lowered
from .sums import kernels_of, layer_of_sum, parameters_of_tensor, two
from .ties import refuse_ties
from .values import Pending, Value

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["Phases", "conv_transpose"]


@dataclass(frozen=True, kw_only=True)
class Phases:
    """One spatial axis of a ConvTranspose as a convolution with `stride` results at each of `places`.

    Result t is phase (t + first) % stride of the place (t + first) // stride, for t from 0 to `made` - 1. The window of
    a place has `taps` pixels from `low` on, counted from the place; `after` is the padding behind the last pixel. The
    weight at `kernel` of `phase` belongs to the pixel `tap` of the window, for (phase, tap, kernel) in `weights`.
    """

    stride: int
    first: int
    made: int
    places: int
    low: int
    taps: int
    after: int
    weights: tuple[tuple[int, int, int], ...]

    @classmethod
    def of(cls, size: int, *, kernel: int, stride: int, dilation: int, pad: int, made: int) -> Phases:
        """Return the phases with the fewest products for `size` pixels; `pad` results before the first are left out."""
        each = [cls._from(first, size, kernel, stride, dilation, pad, made) for first in range(stride)]
        return min(each, key=lambda found: (found.places * found.taps, found.first))

    @classmethod
    def _from(cls, first: int, size: int, kernel: int, stride: int, dilation: int, pad: int, made: int) -> Phases:
        places = -(-(made + first) // stride)
        found = []  # phase, pixel from the place, kernel
        for index in range(kernel):
            phase = (index * dilation + first - pad) % stride
            found.append((phase, (phase - first + pad - index * dilation) // stride, index))
        low = min(0, *(pixel for _, pixel, _ in found))
        high = max(size - places, *(pixel for _, pixel, _ in found))
        return cls(
            stride=stride,
            first=first,
            made=made,
            places=places,
            low=low,
            taps=high - low + 1,
            after=places - 1 + high - (size - 1),
            weights=tuple((phase, pixel - low, index) for phase, pixel, index in found),
        )


def conv_transpose(reader: Reader, node: NodeProto) -> Value:
    """Inputs: x behind a DequantizeLinear, w [C, M / groups, ...] and the bias behind theirs, constant.

    onnxruntime computes it in float32. Scales that make sums half-way between two results common are refused.
    """
    graph = reader.graph
    reader.value(node.input[0])  # where that is unknown, it is the one reason
    x, (w, found) = together(lambda: reader.tensor(node.input[0]), lambda: kernels_of(reader, node, axis=1))
    groups = int(attribute(node, "group", 1))
    if w.ndim != len(x.shape) or groups < 1 or x.shape[1] % groups or w.shape[0] != x.shape[1]:
        raise NotTakenError(
            f"the weights must have {len(x.shape)} dimensions, of which the first are the {x.shape[1]} channels of its "
            f"input in {groups} groups, not {list(w.shape)}"
        )
    image = as_image(reader, node, x)
    rows, columns = _axes(node, x.shape[2:], w.shape[2:])
    shape = (x.shape[0], groups * w.shape[1], rows.made, columns.made)
    check_elements("its result", shape)
    each = Parameters(scale=_by_output(found.scale, groups), zero_point=_by_output(found.zero_point, groups))
    bias = None
    if len(node.input) > 2 and node.input[2]:
        bias = bias_of(
            graph, node.input[2], parameters_of_tensor(x), each, shape[1], requantized=False,
            way_out="onnxruntime adds it in float32: store it as int32 in that unit, as its quantizer does",
        )  # fmt: skip
    kernels = w.reshape(groups, w.shape[0] // groups, w.shape[1], *two(node, "kernel_shape", x.shape[2:], w.shape[2:]))
    sums = _phase_sums(node, x, kernels, each, bias, rows, columns)

    def make(y: Tensor) -> tuple[Node, ...]:
        layer = sums(y)
        refuse_ties(node, layer)
        window = Window(kernel=(rows.taps, columns.taps), pads=(-rows.low, -columns.low, rows.after, columns.after))
        movement = _interleaved(groups, shape[1], rows, columns)
        phases = y
        if movement is not None:
            phases = y.replace(name=f"{y.name}: phases", shape=(y.shape[0], layer.n, rows.places, columns.places))
        sum_ = Convolution(name=named(node), inputs=(image,), output=phases, window=window, groups=groups, layer=layer)
        if movement is None:
            return (sum_,)
        return (sum_, Move(name=f"{named(node)}: phases", inputs=(phases,), output=y, movement=movement))

    made, lowers = lowered(node, x, shape, make)
    return Pending(node=node, shape=made, make=lowers)


def _axes(node: NodeProto, spatial: tuple[int, ...], kernel: tuple[int, ...]) -> tuple[Phases, Phases]:
    """The phases of rows and of columns, by the attributes of `node`."""
    ones, zeros = (1,) * len(spatial), (0,) * len(spatial)
    given = list(attribute(node, "kernel_shape", list(kernel)))
    if given != list(kernel):
        raise NotTakenError(f"kernel_shape must be that of the weights, {list(kernel)}, not {given}")
    sizes = two(node, "shape", spatial, spatial)
    kernels = two(node, "kernel_shape", spatial, kernel)
    strides = two(node, "strides", spatial, attribute(node, "strides", ones))
    dilations = two(node, "dilations", spatial, attribute(node, "dilations", ones))
    pads = two(node, "pads", spatial, attribute(node, "pads", (*zeros, *zeros)))
    more = attribute(node, "output_padding", zeros)
    more = more if len(spatial) == 2 else (0, *more)
    shapes = attribute(node, "output_shape")
    if shapes is not None:
        shapes = two(node, "output_shape", spatial, shapes)
    auto_pad = attribute(node, "auto_pad", b"NOTSET").decode()
    found = []
    for axis in range(2):
        whole = strides[axis] * (sizes[axis] - 1) + more[axis] + (kernels[axis] - 1) * dilations[axis] + 1
        wanted = shapes[axis] if shapes is not None else strides[axis] * sizes[axis]
        before, made = pads[axis], whole - pads[axis] - pads[axis + 2]
        if shapes is not None or auto_pad.startswith("SAME"):
            both = max(0, whole - wanted)
            before = both // 2 if auto_pad == "SAME_UPPER" else both - both // 2
            made = wanted if shapes is not None else whole - both
        elif auto_pad == "VALID":
            before, made = 0, whole
        if made < 1:
            raise NotTakenError(f"its pads must leave something of {whole} rows or columns, and leave {made}")
        found.append(
            Phases.of(
                sizes[axis], kernel=kernels[axis], stride=strides[axis], dilation=dilations[axis], pad=before, made=made
            )
        )
    return found[0], found[1]


def _by_output(found: npt.NDArray[Any], groups: int) -> npt.NDArray[Any]:
    """One for each output channel from one for each of a group's, which all groups share; or one for all."""
    return np.tile(found, groups) if found.size > 1 else found


def _phase_sums(
    node: NodeProto,
    x: Tensor,
    kernels: npt.NDArray[Any],
    found: Parameters,
    bias: npt.NDArray[Any] | None,
    rows: Phases,
    columns: Phases,
) -> Callable[[Tensor], MatMulLayer]:
    """The layer of all phases, once its output is known; `kernels` [groups, C / groups, M / groups, rows, columns].

    Its columns are, for each group, row phase by row phase, column phase by column phase, the group's channels.
    """
    groups, depth, width, *_ = kernels.shape
    points = np.broadcast_to(found.zero_point, groups * width).reshape(groups, 1, 1, width, 1, 1, 1)
    w = np.empty((groups, rows.stride, columns.stride, width, depth, rows.taps, columns.taps), kernels.dtype)
    w[:] = points  # a weight that is there for no phase counts 0
    for row_phase, row_tap, row in rows.weights:
        for column_phase, column_tap, column in columns.weights:
            w[:, row_phase, column_phase, :, :, row_tap, column_tap] = kernels[:, :, :, row, column].swapaxes(1, 2)

    def spread(each: npt.NDArray[Any]) -> npt.NDArray[Any]:
        by_output = np.broadcast_to(each, groups * width).reshape(groups, 1, 1, width)
        return np.broadcast_to(by_output, (groups, rows.stride, columns.stride, width)).reshape(-1)

    each = Parameters(scale=spread(found.scale), zero_point=spread(found.zero_point))
    columns_of = columns_of_kernels(w.reshape(-1, *w.shape[4:]))
    return layer_of_sum(node, x, columns_of, each, None if bias is None else spread(bias))


def _interleaved(groups: int, channels: int, rows: Phases, columns: Phases) -> Movement | None:
    """From phases to pixels; None where there is one phase."""
    down, across, width = rows.stride, columns.stride, channels // groups
    moves: list[Movement] = []
    if down * across > 1:
        moves = [
            Reshape((groups, down, across, width, rows.places, columns.places)),
            Transpose((0, 1, 4, 5, 2, 6, 3)),
            Reshape((channels, down * rows.places, across * columns.places)),
        ]
    for axis, each in ((2, rows), (3, columns)):
        if each.made < each.stride * each.places:
            moves.append(Gather(axis, tuple(range(each.first, each.first + each.made))))
    return Chain(tuple(moves)) if moves else None
