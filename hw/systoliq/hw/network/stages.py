"""Stages: the hardware of each integer operator of a network, from the operator itself."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
from amaranth.hdl import signed, unsigned
from amaranth.lib import wiring

from systoliq.golden import network
from systoliq.golden.formats import IntFormat
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network.sum_tables import SumTables
from systoliq.golden.requantization import Requantization

from ..config import ArrayConfig
from ..dense import Dense
from .addition import Addition
from .convolution import Convolution
from .depthwise import Depthwise
from .image import ImageWindow
from .lookup import Lookup
from .maximum import Maximum
from .sliding import Sliding

__all__ = ["Parallelism", "Stage", "stage_of"]

Order = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Parallelism:
    """How much a stage does in a cycle: ``cols`` output channels, each of ``depth`` products of its own.

    Where an operator has no products of many channels, depth is 1, and cols are its lanes.
    """

    cols: int = 1
    depth: int = 1


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Stage:
    """An operator's ``component``: streams ``i``, or ``i_0`` and ``i_1``, and ``o``.

    ``image_cycles``: cycles from one image to the next, where nobody waits. ``multipliers``: of products, those of
    requantizers not among them.
    """

    component: wiring.Component
    image_cycles: int
    multipliers: int


def stage_of(
    node: network.Node, parallelism: Parallelism, *, cells: str, kind: str, order: Order | None = None
) -> Stage:
    """The hardware of ``node``; ``kind`` begins the names of its modules.

    ``order``: where elements come in another order than that of `Tensor.raster`, that of each in it. Only a product of
    whole images can take them so.

    Raises ValueError where there is none, or not for this order or parallelism.
    """
    make = _make.dispatch(type(node))
    if order is not None and not isinstance(node, network.Dense):
        raise ValueError(f"node {node.name!r}: its elements must come in raster order, channels last")
    more: dict[str, Any] = {"order": order} if isinstance(node, network.Dense) else {}
    try:
        stage: Stage = make(node, parallelism, cells, kind, **more)
    except ValueError as error:
        raise ValueError(f"node {node.name!r}: {error}") from error
    return stage


@functools.singledispatch
def _make(node: network.Node, parallelism: Parallelism, cells: str, kind: str) -> Stage:
    raise ValueError(f"there is no hardware for {type(node).__name__}")


@_make.register
def _convolution(node: network.Convolution, parallelism: Parallelism, cells: str, kind: str) -> Stage:
    windows = _windows(node, node.window)
    padding = node.inputs[0].zero_point
    if node.groups == 1:
        dense = _dense(node.layer, parallelism, cells)
        convolution = Convolution(windows, dense, padding=padding, kind=kind)
        cycles = _image_cycles(math.prod(windows.out), dense)
        if convolution.buffer is not None:
            cycles = max(cycles, windows.pixels * convolution.buffer.words)
        return Stage(component=convolution, image_cycles=cycles, multipliers=dense.config.macs_per_cycle)
    if node.groups != windows.channels or node.layer.n != windows.channels:
        raise ValueError(
            f"groups must be 1, or as many as input and output channels, not {node.groups} for {windows.channels} and "
            f"{node.layer.n}"
        )
    return _sliding_product(node.layer, windows, padding, parallelism, cells, kind)


@_make.register
def _whole_average(node: network.WholeAverage, parallelism: Parallelism, cells: str, kind: str) -> Stage:
    x, y = node.inputs[0], node.output
    _, channels, rows, columns = (*x.shape, 1, 1)[:4]
    image = rows, columns
    layer = MatMulLayer(
        b=np.ones((node.pixels, channels), np.int8),
        a_scale=x.scale,
        b_scale=np.float32(1),
        y_scale=np.float32(y.scale * np.float32(node.pixels)),
        a_zero_point=np.array(x.zero_point, x.format.dtype),
        b_zero_point=np.array(0, np.int8),
        y_zero_point=np.array(y.zero_point, y.format.dtype),
    )
    windows = ImageWindow(window=network.Window(kernel=image), image=image, channels=channels)
    return _sliding_product(layer, windows, x.zero_point, parallelism, cells, kind)


def _sliding_product(
    layer: MatMulLayer, windows: ImageWindow, padding: int, parallelism: Parallelism, cells: str, kind: str
) -> Stage:
    _one_deep(parallelism)
    core = Depthwise(layer, _requantization(layer), lanes=parallelism.cols, cells=cells, kind="depthwise")
    component = Sliding(windows, core, padding=padding, cells=cells, kind=kind)
    return Stage(component=component, image_cycles=_sliding_cycles(component), multipliers=parallelism.cols)


@_make.register
def _max_pool(node: network.MaxPool, parallelism: Parallelism, cells: str, kind: str) -> Stage:
    _one_deep(parallelism)
    form = node.inputs[0].format
    windows = _windows(node, node.window)
    shape = signed(8) if form.signed else unsigned(8)
    core = Maximum(shape, lanes=parallelism.cols, beats=math.prod(node.window.kernel))
    component = Sliding(windows, core, padding=form.min, cells=cells, kind=kind)
    return Stage(component=component, image_cycles=_sliding_cycles(component), multipliers=0)


@_make.register
def _product(node: network.Dense, parallelism: Parallelism, cells: str, kind: str, order: Order | None = None) -> Stage:
    layer = node.layer
    if order is not None:
        if len(order) != layer.k:
            raise ValueError("its elements must come in raster order, channels last")
        layer = layer.replace(b=layer.b[order])
    dense = _dense(layer, parallelism, cells)
    rows = math.prod(node.inputs[0].shape[1:-1])
    windows = ImageWindow(window=network.Window(kernel=(1, 1)), image=(rows, 1), channels=layer.k)
    component = Convolution(windows, dense, padding=0, kind=kind)
    cycles = _image_cycles(rows, dense)
    return Stage(component=component, image_cycles=cycles, multipliers=dense.config.macs_per_cycle)


@_make.register
def _addition(node: network.Addition, parallelism: Parallelism, cells: str, kind: str) -> Stage:
    _one_deep(parallelism)
    a, b = node.inputs
    if a.value is not None or b.value is not None or a.shape != b.shape:
        raise ValueError(f"both operands must be computed and of one shape, not {list(a.shape)} and {list(b.shape)}")
    tables = SumTables.of(_all_pairs(node), node.output.format)
    if tables is None:
        raise ValueError("no two tables give its sums exactly")
    component = Addition(tables, a.format, lanes=parallelism.cols, cells=cells, kind=kind)
    return Stage(component=component, image_cycles=_elements(node) // parallelism.cols, multipliers=0)


def _all_pairs(node: network.Addition) -> npt.NDArray[Any]:
    """The sums of all pairs of codes, [256, 256]."""
    tensors = [tensor.replace(shape=(1, 256, 256)) for tensor in (*node.inputs, node.output)]
    codes = tensors[0].codes
    a, b = np.broadcast_arrays(codes[None, :, None], codes[None, None, :])
    found: npt.NDArray[Any] = dataclasses.replace(node, inputs=tuple(tensors[:2]), output=tensors[2]).apply(a, b)[0]
    return found


@_make.register
def _table(node: network.Table, parallelism: Parallelism, cells: str, kind: str) -> Stage:
    _one_deep(parallelism)
    component = Lookup(
        node.entries.tolist(),
        node.inputs[0].format,
        node.output.format,
        lanes=parallelism.cols,
        cells=cells,
        kind=kind,
    )
    return Stage(component=component, image_cycles=_elements(node) // parallelism.cols, multipliers=0)


def _windows(node: network.Node, window: network.Window) -> ImageWindow:
    _, channels, rows, columns = node.inputs[0].shape
    return ImageWindow(window=window, image=(rows, columns), channels=channels)


def _dense(layer: MatMulLayer, parallelism: Parallelism, cells: str) -> Dense:
    if layer.k % parallelism.depth:
        raise ValueError(f"depth must divide the {layer.k} elements of K, not {parallelism.depth}")
    config = ArrayConfig(cols=parallelism.cols, depth=parallelism.depth, cells=cells)
    return Dense(layer, _requantization(layer), config, wrap=True)


def _requantization(layer: MatMulLayer) -> Requantization:
    if not isinstance(layer.y_format, IntFormat):
        raise ValueError(f"results must be integers, not {layer.y_format}")
    return Requantization.from_scales(layer.rising.scale, layer.y_zero_point, layer.y_format)


def _image_cycles(rows: int, dense: Dense) -> int:
    return rows * dense.schedule.column_tiles * dense.schedule.tile_cycles


def _sliding_cycles(component: Sliding) -> int:
    windows, buffer = component.windows, component.buffer
    return max(math.prod(windows.out) * buffer.beats, windows.pixels * buffer.words)


def _elements(node: network.Node) -> int:
    return math.prod(node.output.shape[1:])


def _one_deep(parallelism: Parallelism) -> None:
    if parallelism.depth != 1:
        raise ValueError(f"depth must be 1, not {parallelism.depth}")
