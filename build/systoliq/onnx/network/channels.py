"""Functions of one integer that differ from channel to channel, in operators that there are: BatchNormalization, PRelu.

    a line               depthwise convolution of 1 x 1: weight and bias are integers, the scale is the channel's
    a line, then Relu    the same, and a table that clips
    two, bent at 0       of min(x, 0) one line, of max(x, 0) the other; their sum
    two, bent where y    one line clipped to min(y, 0), the other to max(y, 0); their sum
    is 0

A line is found, not computed: the weight for which the widest range of scales gives all results. Every result for every
integer of every channel is then compared, so what is returned is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import Addition, Convolution, Move, Node, Reshape, Table, Tensor, Window

from ..node import NotTakenError, label, layer_name
from .quantizers import named

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["function_nodes"]

_Real = npt.NDArray[np.float32]
_WEIGHTS = np.repeat(np.arange(1, 128), 3)  # each with three biases
_BIASES = np.tile([-1, 0, 1], 127)
_INT32 = np.iinfo(np.int32)


def function_nodes(
    node: NodeProto, x: Tensor, y: Tensor, function: Callable[[_Real], npt.NDArray[Any]]
) -> tuple[Node, ...]:
    """Nodes that compute `y` from `x` by `function` of real numbers [256, 1], which returns [256, channels], or [256,
    1] for all.

    Raises NotTakenError if the channels differ by more than the lines of the module's description.
    """
    real = function(x.dequantize(x.codes)[:, None])
    entries = y.quantize(real)
    if (entries == entries[:, :1]).all():
        return (Table(name=named(node), inputs=(x,), output=y, entries=entries[:, 0]),)
    return tuple(_Channels(node, x, y, real, entries.astype(np.int64)).nodes())


@dataclass(frozen=True, eq=False)
class _Channels:
    """`y` as a function of `x` by channel: `real` numbers [256, channels], `entries` the integers of `y`."""

    node: NodeProto
    x: Tensor
    y: Tensor
    real: npt.NDArray[Any]
    entries: npt.NDArray[np.int64]

    def nodes(self) -> list[Node]:
        """On images, between moves that give other tensors the shape of images."""
        x, y = self._image(self.x, "input"), self._image(self.y, "output")
        line = self._line(x, y, np.ones(256, bool), self.entries)
        made: list[Node] = [] if line is None else [line]
        made = made or self._clipped(x, y) or self._bent(x, y) or self._bent_behind(x, y)
        if not made:
            raise NotTakenError(
                f"{label(self.node)} must be one line for each channel, or two that meet at 0, rounded, and is not "
                f"for the scales {float(self.x.scale):.9g} before and {float(self.y.scale):.9g} after it; other scales "
                "may help, and for BatchNormalization to fold it before you quantize: "
                "onnxruntime.quantization.shape_inference.quant_pre_process"
            )
        if x is not self.x:
            name = named(self.node)
            before = Move(name=f"{name}: image", inputs=(self.x,), output=x, movement=Reshape(x.shape[1:]))
            after = Move(name=f"{name}: no image", inputs=(y,), output=self.y, movement=Reshape(self.y.shape[1:]))
            made = [before, *made, after]
        return made

    def _image(self, tensor: Tensor, role: str) -> Tensor:
        if len(tensor.shape) == 4:
            return tensor
        batch, channels, *rest = tensor.shape
        return tensor.replace(name=f"{self.y.name}: {role}", shape=(batch, channels, 1, int(np.prod(rest))))

    def _clipped(self, x: Tensor, y: Tensor) -> list[Node]:
        """A line and a table that clips it; empty where it is none."""
        ends, name = (int(self.entries.min()), int(self.entries.max())), named(self.node)
        return self._line_between(x, y.replace(name=f"{y.name}: line"), y, ends, (f"{name}: line", name))

    def _line_between(
        self, x: Tensor, whole: Tensor, y: Tensor, ends: tuple[int, int], names: tuple[str, str]
    ) -> list[Node]:
        """The line `whole` and the table that clips it to `ends`, with these `names`; empty where it is none."""
        line = self._line(x, whole, np.ones(256, bool), np.clip(self.entries, *ends), names[0], ends)
        if line is None:
            return []
        return [line, Table(name=names[1], inputs=(whole,), output=y, entries=np.clip(y.codes, *ends))]

    def _bent_behind(self, x: Tensor, y: Tensor) -> list[Node]:
        """The sum of a line clipped at the zero point of `y` from above and one clipped there from below, as of PRelu
        behind BatchNormalization; empty where it is none.
        """
        made: list[Node] = []
        parts = []
        for side, ends in (("below 0", (y.format.min, y.zero_point)), ("above 0", (y.zero_point, y.format.max))):
            name = f"{named(self.node)}: {side}"
            whole, part = (y.replace(name=f"{y.name}: {kind}{side}") for kind in ("line ", ""))
            found = self._line_between(x, whole, part, ends, (f"{name}, line", name))
            if not found:
                return []
            made += found
            parts.append(part)
        return [*made, Addition(name=named(self.node), inputs=tuple(parts), output=y)]

    def _bent(self, x: Tensor, y: Tensor) -> list[Node]:
        """The sum of a line up to the zero point of `x` and one from there on; empty where it is none."""
        codes, zero = x.codes.astype(np.int64), x.zero_point
        below, above = codes <= zero, codes >= zero
        made: list[Node] = []
        for part, side in ((below, "below 0"), (above, "above 0")):
            wanted = np.where(part[:, None], self.entries, y.zero_point)
            sum_of = y.replace(name=f"{y.name}: {side}")
            name = f"{named(self.node)}: {side}"
            if (wanted == wanted[:, :1]).all():
                entries = wanted[:, 0].astype(y.format.dtype)
                made.append(Table(name=name, inputs=(x,), output=sum_of, entries=entries))
                continue
            clipped = x.replace(name=f"{y.name}: input {side}")
            bounds = np.clip(codes, None, zero) if side == "below 0" else np.clip(codes, zero, None)
            made.append(Table(name=f"{name}, clip", inputs=(x,), output=clipped, entries=bounds.astype(x.format.dtype)))
            line = self._line(clipped, sum_of, part, wanted, name)
            if line is None:
                return []
            made.append(line)
        parts = tuple(y.replace(name=f"{y.name}: {side}") for side in ("below 0", "above 0"))
        return [*made, Addition(name=named(self.node), inputs=parts, output=y)]

    def _line(
        self,
        x: Tensor,
        y: Tensor,
        part: npt.NDArray[np.bool_],
        wanted: npt.NDArray[np.int64],
        name: str | None = None,
        clip: tuple[int, int] | None = None,
    ) -> Convolution | None:
        """A depthwise convolution that returns `wanted` [256, channels] for the integers of `part`, with results
        clipped to `clip` (None: the format's range); None if there is none.
        """
        ends = clip or (y.format.min, y.format.max)
        steps = x.codes.astype(np.int64) - x.zero_point
        results = [_fitted(steps[part], self.real[part, c], wanted[part, c], y, ends) for c in range(wanted.shape[1])]
        weights, biases, scales = (np.array(each) for each in zip(*results, strict=True))
        if np.abs(biases).max() > _INT32.max or not (np.isfinite(scales) & (scales > 0)).all():
            return None
        with np.errstate(all="ignore"):
            b_scale = (scales * float(y.scale) / float(x.scale)).astype(np.float32)
        node_name = name or named(self.node)
        count = len(weights)
        layer = MatMulLayer(
            name=layer_name(node_name),
            b=weights.astype(np.int8)[None],
            a_scale=x.scale,
            a_zero_point=x.zero_point,
            b_scale=b_scale,
            b_zero_point=np.zeros(count, np.int8),
            y_scale=y.scale,
            y_zero_point=y.zero_point,
            bias=biases.astype(np.int32),
            a_format=x.format,
            y_format=y.format,
        )
        _ = layer.canonical
        line = Convolution(
            name=node_name, inputs=(x,), output=y, window=Window(kernel=(1, 1)), groups=count, layer=layer
        )
        values = np.broadcast_to(x.codes[part][:, None, None, None], (int(part.sum()), count, *x.shape[2:]))
        found = np.clip(line.apply(values)[:, :, 0, 0], *ends)
        return line if (found == wanted[part]).all() else None


def _fitted(
    steps: npt.NDArray[np.int64],
    real: npt.NDArray[Any],
    wanted: npt.NDArray[np.int64],
    y: Tensor,
    ends: tuple[int, int],
) -> tuple[int, int, float]:
    """Weight, bias and scale for which rint(scale * (weight * steps + bias)) is best like `wanted` less the zero point.

    `real` are the numbers that `wanted` is quantized from: of those that lie inside of `ends`, the first and last say
    where the line is 0.
    """
    results = wanted - y.zero_point
    free = np.flatnonzero((wanted > ends[0]) & (wanted < ends[1]))
    if len(free) < 2 or real[free[0]] == real[free[-1]]:
        if (results == results[0]).all():
            return 0, int(results[0]), 1.0
        free = np.array([0, len(steps) - 1])
    first, last = free[[0, -1]]
    slope = (float(real[last]) - float(real[first])) / float(steps[last] - steps[first])
    if slope == 0 or not np.isfinite(slope):
        return 0, 0, 1.0
    weights = _WEIGHTS * int(np.sign(slope))
    places = np.rint(weights * (float(real[first]) / slope - float(steps[first]))) + _BIASES
    sums = weights[:, None] * steps + places[:, None]
    least = np.where(wanted > ends[0], results - 0.5, -np.inf)
    most = np.where(wanted < ends[1], results + 0.5, np.inf)
    with np.errstate(all="ignore"):  # a sum of 0 says nothing of the scale, but must be a result of 0
        bounds = np.sort(np.stack([least / sums, most / sums]), axis=0)
        low = np.where(sums == 0, 0, bounds[0]).max(axis=1)
        high = np.where(sums == 0, np.where((least <= 0) & (most >= 0), np.inf, -np.inf), bounds[1]).min(axis=1)
        width = np.where((high > 0) & np.isfinite(high), (high - np.maximum(low, 0)) / high, -np.inf)
    best = int(np.argmax(width))
    return int(weights[best]), int(places[best]), float((max(low[best], 0) + high[best]) / 2)
