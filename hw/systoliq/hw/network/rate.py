"""Rates: how many cycles a stage takes for an image and how many multipliers for that, before any of it is built."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterator

import numpy as np

from systoliq.golden import network
from systoliq.golden.formats import signed_bits
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network.steps import Steps
from systoliq.golden.requantization import Requantization

from ..config import ArrayConfig
from ..folding import fold
from ..schedule import Schedule
from .image import ImageWindow

__all__ = [
    "PRODUCT_BITS",
    "Parallelism",
    "choices",
    "common_channels",
    "image_cycles",
    "is_product",
    "is_stage",
    "is_wide",
    "lanes",
    "multipliers",
    "needs_row_sums",
    "requantizer_factors",
    "schedule_of",
    "steps_of",
    "windows_of",
]

PRODUCT_BITS = 18  # of two bytes less their zero points
_ROW = 2  # cycles from one row of windows to the next, at the least


@dataclasses.dataclass(frozen=True, kw_only=True, order=True)
class Parallelism:
    """How much a stage does in a cycle: ``cols`` output channels, each of ``depth`` products of its own.

    More depth than channels are several pixels of a window. Where an operator has no products of many channels, depth
    is 1, and cols are its lanes. ``cells`` make its products where they are not those of the whole pipeline, and
    ``lane_cells`` the products of its requantizers.
    """

    cols: int = 1
    depth: int = 1
    cells: str = ""
    lane_cells: str = ""

    def __post_init__(self) -> None:
        for name in ("cols", "depth"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{name} must be a positive integer, not {value!r}")


def is_stage(node: network.Node) -> bool:
    """Whether a node becomes hardware: all but moves that leave each element there once."""
    return not isinstance(node, network.Move) or not node.permutes


def windows_of(node: network.Node) -> ImageWindow:
    """The windows that a node makes its output of: the output's own pixels where it has none."""
    x = node.inputs[0] if _slides(node) or isinstance(node, network.Dense) else node.output
    image = (x.shape[2], x.shape[3]) if len(x.shape) == 4 else (x.pixels, 1)
    kernel = image if isinstance(node, network.WholeAverage) else (1, 1)
    window = getattr(node, "window", None) or network.Window(kernel=kernel)
    return ImageWindow(window=window, image=image, channels=x.channels, groups=_groups(node))


def _slides(node: network.Node) -> bool:
    return isinstance(node, network.Convolution | network.MaxPool | network.WholeAverage)


def _groups(node: network.Node) -> int:
    """Of channels, whose products a stage makes one after the other."""
    return node.groups if isinstance(node, network.Convolution) and is_product(node) else 1


def common_channels(node: network.Node) -> int:
    """What lanes must divide where every beat is of one pixel: the channels, or what those of all parts share."""
    if isinstance(node, network.Concatenation):
        return math.gcd(*(tensor.channels for tensor in node.inputs))
    return windows_of(node).channels


def is_wide(node: network.Node, parallelism: Parallelism) -> bool:
    """Whether the stage takes several pixels of a window in a cycle."""
    return is_product(node) and parallelism.depth > windows_of(node).word(parallelism.depth)


def is_product(node: network.Node) -> bool:
    """Whether outputs are products of all channels, or of a group's: cols and depth are both free.

    Where each has a channel of its own, many of them are made side by side instead.
    """
    if isinstance(node, network.Convolution):
        return not node.depthwise or node.layer.n != node.groups
    return isinstance(node, network.Dense)


def choices(node: network.Node) -> Iterator[Parallelism]:
    """All that a stage of the node can be: depths that divide the channels, columns up to those of the output.

    Of groups both must divide what one has. After those of a pixel the depths of several in a window come, as
    `ImageWindow.taps` has them.
    """
    channels, groups = common_channels(node), _groups(node)
    if not is_product(node):
        yield from (Parallelism(cols=lanes) for lanes in range(1, channels + 1) if channels % lanes == 0)
        return
    layer = _layer(node)
    for depth in windows_of(node).depths:
        for cols in range(1, layer.n // groups + 1):
            if groups > 1 and layer.n // groups % cols:
                continue
            if layer.n % schedule_of(node, Parallelism(cols=cols, depth=depth)).lanes == 0:
                yield Parallelism(cols=cols, depth=depth)


def image_cycles(node: network.Node, parallelism: Parallelism) -> int:
    """Cycles from one image to the next, where neither side of the stage waits.

    Windows that leave the image (`ImageWindow.leaves_image`) may make it more: for rows of them nothing need come, and
    nothing can come meanwhile for those after.
    """
    windows = windows_of(node)
    count = math.prod(windows.out)
    slides = _slides(node)
    if is_product(node):
        slides = windows.moves
        schedule = schedule_of(node, parallelism)
        made = count * schedule.column_tiles * schedule.tile_cycles
        taken = windows.pixels * windows.channels // windows.word(parallelism.depth) if windows.moves else 0
    else:
        taken = windows.pixels * windows.channels // parallelism.cols
        made = count * math.prod(windows.window.kernel) * (windows.channels // parallelism.cols)
    return max(made, taken, _ROW * windows.out[0] if slides else 0)


def multipliers(node: network.Node, parallelism: Parallelism) -> int:
    """Products that the stage does in a cycle, those of its requantizers not among them."""
    if is_product(node):
        return parallelism.cols * parallelism.depth
    one = isinstance(node, network.Convolution | network.WholeAverage | network.Multiplication)
    return parallelism.cols if one else 0


def lanes(node: network.Node, parallelism: Parallelism) -> int:
    """Elements of a beat that the stage gives."""
    return schedule_of(node, parallelism).lanes if is_product(node) else parallelism.cols


@functools.cache
def requantizer_factors(node: network.Node) -> tuple[int, int] | None:
    """Bits of both factors that the requantizers of a stage multiply, one in each lane: sums, and the whole mantissas
    of scales without the zeros at their ends. None where it has none.
    """
    if isinstance(node, network.Multiplication):
        return PRODUCT_BITS, max(steps_of(node).multiplier.bit_length(), 1)
    if isinstance(node, network.WholeAverage):
        return signed_bits(*(node.pixels * bound for bound in (-256, 255))), node.requantization.multiplier_bits
    layer = getattr(node, "layer", None)
    if layer is None:
        return None
    layer = layer.canonical
    lows, highs = layer.accumulator_range()
    mantissas = Requantization.from_scales(layer.scale, layer.y_zero_point, layer.y_format).multiplier_bits
    return min(signed_bits(int(lows.min()), int(highs.max())), 32), mantissas


@functools.cache
def needs_row_sums(node: network.Node) -> bool:
    """Whether a product adds up the rows of A, too: weights less their zero points need more bits than the weights."""
    if not is_product(node):
        return False
    layer = _layer(node)
    return fold(layer.canonical, layer.b_format.bits).needs_row_sums


@functools.cache
def steps_of(node: network.Multiplication) -> Steps:
    """The rescaling of its products, exact for all of them."""
    low, high = node.products
    results = node.rescaled(np.arange(low, high + 1, dtype=np.int32))
    return Steps.of(results, low, float(node.scale), node.output.zero_point, node.output.format)


def _layer(node: network.Node) -> MatMulLayer:
    layer: MatMulLayer = node.layer  # type: ignore[attr-defined]
    return layer


def schedule_of(node: network.Node, parallelism: Parallelism) -> Schedule:
    """The tiles of a product."""
    layer = _layer(node)
    config = ArrayConfig(cols=parallelism.cols, depth=parallelism.depth)
    return Schedule(k=layer.k, n=layer.n, config=config)
