"""Stages: the hardware of each integer operator of a network, from the operator itself."""

from __future__ import annotations

import functools
import math

import numpy as np
from amaranth.lib import wiring

from systoliq.golden import network
from systoliq.golden.layer import MatMulLayer

from ..config import ArrayConfig
from ..dense import Dense
from ..operand_shape import operand_shape
from . import joins
from .convolution import Convolution
from .depthwise import Depthwise
from .image import ImageWindow
from .lookup import Lookup
from .maximum import Maximum
from .rate import Parallelism, is_product, windows_of
from .recipe import Order, Recipe, Requantize
from .sliding import Sliding
from .upsampling import Upsampling

__all__ = ["stage_of"]


def stage_of(
    node: network.Node,
    parallelism: Parallelism,
    *,
    cells: str,
    kind: str,
    requantize: Requantize,
    lane_cells: str | None = None,
    order: Order | None = None,
) -> wiring.Component:
    """The hardware of ``node``: streams ``i``, or ``i_0`` and on, and ``o``; ``kind`` begins its modules' names.

    ``order``: where elements come in another order than that of `Tensor.raster`, that of each in it. Only a product of
    whole images can take them so.

    ``lane_cells`` are those of its requantizers, where they are not the others'. A stage whose parallelism names other
    cells than these is a namespace of its own (`systoliq.hw.hierarchy`): its modules differ from the others'.

    Raises ValueError where there is none, or not for this order or parallelism.
    """
    if order is not None and not isinstance(node, network.Dense):
        raise ValueError(f"node {node.name!r}: its elements must come in raster order, channels last")
    usual = cells, lane_cells or cells
    own = parallelism.cells or usual[0], parallelism.lane_cells or usual[1]
    try:
        made: wiring.Component = _make(node, Recipe(parallelism, *own, kind, requantize, order))
    except ValueError as error:
        raise ValueError(f"node {node.name!r}: {error}") from error
    if own != usual:
        made.namespace = True
    return made


@functools.singledispatch
def _make(node: network.Node, how: Recipe) -> wiring.Component:
    raise ValueError(f"there is no hardware for {type(node).__name__}")


@_make.register
def _convolution(node: network.Convolution, how: Recipe) -> wiring.Component:
    windows, padding = windows_of(node), node.inputs[0].zero_point
    if is_product(node):
        dense = _dense(node.layer, how, groups=node.groups)
        return Convolution(windows, dense, padding=padding, kind=how.kind)
    return _sliding_product(node.layer, windows, padding, how)


@_make.register
def _whole_average(node: network.WholeAverage, how: Recipe) -> wiring.Component:
    x, y = node.inputs[0], node.output
    if len(x.shape) != 4:
        raise ValueError(f"{x.name!r} must have the shape [batch, channels, rows, columns], not {list(x.shape)}")
    windows = windows_of(node)
    layer = MatMulLayer(
        b=np.ones((node.pixels, windows.channels), np.int8),
        a_scale=x.scale,
        b_scale=np.float32(1),
        y_scale=np.float32(y.scale * np.float32(node.pixels)),
        a_zero_point=np.array(x.zero_point, x.format.dtype),
        b_zero_point=np.array(0, np.int8),
        y_zero_point=np.array(y.zero_point, y.format.dtype),
    )
    return _sliding_product(layer, windows, x.zero_point, how)


def _sliding_product(layer: MatMulLayer, windows: ImageWindow, padding: int, how: Recipe) -> wiring.Component:
    core = Depthwise(
        layer,
        how.requantize(layer),
        lanes=how.lanes(windows.channels),
        cells=how.cells,
        kind="depthwise",
        lane_cells=how.lane_cells,
    )
    return Sliding(windows, core, padding=padding, cells=how.cells, kind=how.kind)


@_make.register
def _max_pool(node: network.MaxPool, how: Recipe) -> wiring.Component:
    form = node.inputs[0].format
    core = Maximum(operand_shape(form), lanes=how.lanes(windows_of(node).channels), beats=math.prod(node.window.kernel))
    return Sliding(windows_of(node), core, padding=form.min, cells=how.cells, kind=how.kind)


@_make.register
def _windowed_average(node: network.WindowedAverage, how: Recipe) -> wiring.Component:
    image, kernel = list(node.inputs[0].shape[2:]), list(node.window.kernel)
    raise ValueError(
        f"there is no hardware for an average of windows, whose float32 sums depend on the order of pixels: "
        f"kernel_shape must be the whole image, {image}, without pads, not {kernel}"
    )


@_make.register
def _product(node: network.Dense, how: Recipe) -> wiring.Component:
    layer = node.layer
    if how.order is not None:
        if len(how.order) != layer.k:
            raise ValueError("its elements must come in raster order, channels last")
        layer = layer.replace(b=layer.b[how.order])
    return Convolution(windows_of(node), _dense(layer, how), padding=0, kind=how.kind)


_make.register(network.Addition, joins.addition)
_make.register(network.Concatenation, joins.concatenation)
_make.register(network.Multiplication, joins.multiplication)


@_make.register
def _move(node: network.Move, how: Recipe) -> wiring.Component:
    movement, x = node.movement, node.inputs[0]
    if not isinstance(movement, network.Nearest):
        raise ValueError(f"there is no hardware for {node.kind} that repeats elements or leaves them out")
    lanes = how.lanes(x.channels)
    pixel = x.channels // lanes
    return Upsampling(
        operand_shape(x.format),
        lanes=lanes,
        line=x.shape[3] * pixel,
        down=_times("rows", movement.rows, x.shape[2]),
        pixel=pixel,
        across=_times("columns", movement.columns, x.shape[3]),
        cells=how.cells,
        kind=how.kind,
    )


def _times(name: str, picked: tuple[int, ...], size: int) -> int:
    """How often each of so many rows or columns comes."""
    times = len(picked) // size
    if picked != tuple(index for index in range(size) for _ in range(times)):
        raise ValueError(f"{name} must be all {size} of the input, each as often, in their order, not {list(picked)}")
    return times


@_make.register
def _table(node: network.Table, how: Recipe) -> wiring.Component:
    given, made = node.inputs[0].format, node.output.format
    lanes = how.lanes(windows_of(node).channels)
    return Lookup(node.entries.tolist(), given, made, lanes=lanes, cells=how.cells, kind=how.kind)


def _dense(layer: MatMulLayer, how: Recipe, *, groups: int = 1) -> Dense:
    if layer.k % how.parallelism.depth:
        raise ValueError(f"depth must divide the {layer.k} elements of K, not {how.parallelism.depth}")
    config = ArrayConfig(cols=how.parallelism.cols, depth=how.parallelism.depth, b=layer.b_format, cells=how.cells)
    return Dense(layer, how.requantize(layer), config, wrap=True, lane_cells=how.lane_cells, groups=groups)
