"""Averages of windows or whole images, and the products of their results, stated as convolutions.

The average of an image is a depthwise convolution with ones: onnxruntime rescales the exact sum of all pixels by
f32(x_scale / f32(y_scale * pixels)), and the convolution has this number as its only scale. A QGemm behind the average
is a convolution of 1 x 1 over the one pixel that is left, so nothing between them has to be moved.

onnxruntime adds float32 numbers for the average of a smaller window. It becomes a convolution only if a bound proves
that every sum of its pixels gives the same integer: see `WindowedAverage.uncertain_sum`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from systoliq.golden.formats import IntFormat
from systoliq.golden.network import Tensor, WindowedAverage

from ...onnx.catalogue import CATALOGUE
from ...onnx.graph import Graph
from ...onnx.network.sums import window_of
from ...onnx.node import attribute
from ...onnx.rebuilt import rebuilt
from ...onnx.runtime import Session
from ..host import watched
from ..lowering import Lowered
from ..operations import Array
from ..steps import label_of

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

__all__ = ["with_convolutions"]

_PREFIX = "systoliq/average"  # of the names that are added
_POOLS = ("QLinearGlobalAveragePool", "QLinearAveragePool")
_VIEWS = ("Transpose", "Reshape", "Flatten", "Squeeze")
_TAPS = 255  # of a window of the engine along each axis


def with_convolutions(model: Lowered, feed: Mapping[str, Array], *, channels_last: bool = False) -> Lowered:
    """Return `model` with a QLinearConv in place of each average, and of each QGemm behind one of a whole image; or
    `model` itself if it has no average.

    With `channels_last`, each such image is transposed before, as an engine with a vector unit has it. Shapes are those
    for the inputs `feed`. Every tensor that is left has the same numbers as before.
    """
    nodes = model.model.graph.node
    if not any(node.op_type in _POOLS for node in nodes):
        return model
    names = [node.input[0] for node in nodes if node.op_type in (*_POOLS, "QGemm")]
    given = {name: feed[name] for name in names if name in feed}
    asked = [name for name in dict.fromkeys(names) if name not in given]
    if asked:
        given |= Session(watched(model.model, asked), str(model.path), as_it_is=True).run(asked, feed)
    rewriting = _Rewriting(model.graph, given, channels_last)
    for node in nodes:
        rewriting.add(node)
    return dataclasses.replace(model, model=rewriting.model(model.model))


@dataclasses.dataclass(frozen=True)
class _Pixel:
    """Images of one pixel, of `axes` spatial dimensions: the tensor `name` and its `channels`; `last` is 1 if these are
    the last dimension.
    """

    name: str
    channels: int
    last: int
    axes: int


class _Rewriting:
    """Nodes of `graph` one after the other, with others in place of some; `given` are arrays of their first inputs."""

    def __init__(self, graph: Graph, given: Mapping[str, Array], channels_last: bool) -> None:
        self._graph, self._given, self._channels_last = graph, given, channels_last
        self._nodes: list[NodeProto] = []
        self._constants: dict[str, Array] = {}
        self._dropped: set[str] = set()  # outputs of nodes that nothing needs any more
        self._pixels: dict[str, _Pixel] = {}  # by the tensors that have their elements in the same order

    def add(self, node: NodeProto) -> None:
        """Add `node`, or its replacement."""
        made = None
        if node.op_type in _POOLS:
            made = self._average(node)
        elif node.op_type == "QGemm":
            made = self._product(node)
        self._nodes += [node] if made is None else made

    def model(self, model: ModelProto) -> ModelProto:
        """A copy of `model` with these nodes."""
        kept = (node for node in self._nodes if node.output[0] not in self._dropped)
        return rebuilt(model, kept, self._constants)

    def _average(self, node: NodeProto) -> list[NodeProto] | None:
        x, last = self._given[node.input[0]], int(attribute(node, "channels_last", 0))
        known = len(node.input) >= 5 and all(self._graph.is_constant(name) for name in node.input[1:5])
        if x.ndim not in (3, 4) or not known:
            return None
        image, axes = x.shape[1:-1] if last else x.shape[2:], x.ndim - 2
        if node.op_type == "QLinearAveragePool":
            padded = any(attribute(node, "pads", ())) or attribute(node, "auto_pad", b"NOTSET") != b"NOTSET"
            if padded or tuple(attribute(node, "kernel_shape", ())) != image:
                return self._windows(node, x)
        if max(image) > _TAPS:
            return None
        x_scale, y_scale = (np.float32(self._number(node.input[place])) for place in (1, 3))
        channels = x.shape[-1 if last else 1]
        scale = np.float32(x_scale / np.float32(y_scale * np.float32(math.prod(image))))
        inputs = self._ones(node, scale, np.ones((channels, 1, *image), x.dtype))
        y = node.output[0]
        turns = self._channels_last and not last
        pixel = _Pixel(f"{_PREFIX}/{y}/pixel" if turns else y, channels, int(last or turns), axes)
        self._pixels[y] = self._pixels[pixel.name] = pixel
        return self._depthwise(node, inputs, pixel.name, image, channels, last)

    def _windows(self, node: NodeProto, x: Array) -> list[NodeProto] | None:
        """The convolution of the average of windows, if it gives the same integers."""
        last = int(attribute(node, "channels_last", 0))
        if x.ndim != 4:
            return None
        channels, image = (x.shape[-1], x.shape[1:-1]) if last else (x.shape[1], x.shape[2:])
        form = IntFormat.of(x.dtype)
        try:
            window = window_of(node, image, attribute(node, "kernel_shape"))
            given, made = (
                Tensor(
                    name=name, shape=(len(x), channels, *size), format=form,
                    scale=np.float32(self._number(scale)), zero_point=int(self._number(zero_point)),
                )
                for name, size, (scale, zero_point) in (
                    ("x", image, node.input[1:3]), ("y", window.positions(image), node.input[3:5])
                )
            )  # fmt: skip
            average = WindowedAverage(
                name="average", inputs=(given,), output=made, window=window,
                counts_padding=bool(attribute(node, "count_include_pad", 0)),
            )  # fmt: skip
            certain = average.uncertain_sum is None
        except ValueError:
            return None
        if not certain or max(window.kernel) > _TAPS or attribute(node, "ceil_mode", 0):
            return None
        inputs = self._ones(node, average.scale, np.ones((channels, 1, *window.kernel), x.dtype))
        wide = {name: list(getattr(window, name)) for name in ("strides", "dilations", "pads")}
        y = node.output[0]
        result = f"{_PREFIX}/{y}/turned" if self._channels_last and not last else y
        return self._depthwise(node, inputs, result, window.kernel, channels, last, **wide)

    def _depthwise(
        self,
        node: NodeProto,
        inputs: list[str],
        made: str,
        kernel: Sequence[int],
        channels: int,
        last: int,
        **window: list[int],
    ) -> list[NodeProto]:
        """The convolution of each channel, whose result is `made`, between transposes if not the node's own."""
        y = node.output[0]
        if made == y:
            return [self._convolution(node, inputs, y, kernel, channels, last, **window)]
        image, axes = f"{_PREFIX}/{y}/image", len(kernel)
        return [
            self._node("Transpose", inputs[:1], image, perm=[0, *range(2, axes + 2), 1]),
            self._convolution(node, [image, *inputs[1:]], made, kernel, channels, 1, **window),
            self._node("Transpose", [made], y, perm=[0, axes + 1, *range(1, axes + 1)]),
        ]

    def _ones(self, node: NodeProto, scale: Any, ones: Array) -> list[str]:
        """The inputs of a convolution with `ones`, whose sums are rescaled by `scale`."""
        one, zero = self._constant(node, "one", np.float32(1)), self._constant(node, "zero", np.zeros((), ones.dtype))
        return [
            node.input[0], self._constant(node, "scale", np.asarray(scale)), node.input[2],
            self._constant(node, "ones", ones), one, zero, one, node.input[4],
        ]  # fmt: skip

    def _product(self, node: NodeProto) -> list[NodeProto] | None:
        views, name = self._views(node.input[0])
        operator, x = CATALOGUE.of(node), self._given[node.input[0]]
        given = operator.given(node)
        parameters = [given[role] for role in operator.inputs if role not in ("a", "bias")]
        if name is None or x.ndim != 2 or attribute(node, "transA", 0) or attribute(node, "alpha", 1.0) != 1:
            return None
        if not all(each and self._graph.is_constant(each) for each in parameters):
            return None
        b = self._graph.constant(given["b"], "B")
        kernels = b if attribute(node, "transB", 0) else b.T
        before = self._pixels[name]
        if not kernels.shape[1] == x.shape[1] == before.channels or (x.dtype == np.int8 and b.dtype == np.uint8):
            return None
        inputs = [given[role] for role in operator.inputs if role != "bias"]
        inputs[0], one = before.name, (1,) * before.axes
        inputs[3] = self._constant(node, "kernels", np.ascontiguousarray(kernels).reshape(*kernels.shape, *one))
        if bias := given["bias"]:
            if not self._graph.is_constant(bias):
                return None
            value = self._graph.constant(bias, "the bias")
            if value.size not in (1, len(kernels)):
                return None
            inputs.append(self._constant(node, "bias", np.broadcast_to(value.reshape(-1), len(kernels)).copy()))
        y = node.output[0]
        self._dropped |= set(views)
        pixel = self._pixels[y] = _Pixel(f"{_PREFIX}/{y}/pixel", len(kernels), before.last, before.axes)
        return [
            self._convolution(node, inputs, pixel.name, one, 1, pixel.last),
            self._node(
                "Reshape", [pixel.name, self._constant(node, "shape", np.array([-1, len(kernels)], np.int64))], y
            ),
        ]

    def _views(self, name: str) -> tuple[list[str], str | None]:
        """The tensors from `name` back to an image of one pixel, if each has one use and the elements of the image in
        their order, and this image.
        """
        views = []
        while name not in self._pixels or name != self._pixels[name].name:
            node = self._graph.producer(name)
            if not self._graph.has_one_use(name):
                return [], None
            views.append(name)
            if name in self._pixels:
                return views, name
            if node is None or node.op_type not in _VIEWS or not self._keeps_order(node):
                return [], None
            name = node.input[0]
        return views, name

    def _keeps_order(self, node: NodeProto) -> bool:
        """True if the elements of a view are in the order of its input's: a transposition keeps it if the input has one
        dimension of any size but the first.
        """
        return node.op_type != "Transpose" or (node.input[0] in self._pixels and attribute(node, "perm", (1,))[0] == 0)

    def _convolution(
        self,
        node: NodeProto,
        inputs: list[str],
        y: str,
        kernel: Sequence[int],
        groups: int,
        last: int,
        **window: list[int],
    ) -> NodeProto:
        attributes = {"kernel_shape": list(kernel), "group": groups, "channels_last": last, **window}
        return self._node("QLinearConv", inputs, y, name=label_of(node), domain="com.microsoft", **attributes)

    def _node(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> NodeProto:
        from onnx import helper

        return helper.make_node(operator, inputs, [output], **attributes)

    def _number(self, name: str) -> float:
        return float(self._graph.constant(name, "a scale").reshape(()))

    def _constant(self, node: NodeProto, what: str, value: Array) -> str:
        name = f"{_PREFIX}/{node.output[0]}/{what}"
        self._constants[name] = np.asarray(value)
        return name
