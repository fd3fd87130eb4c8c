"""Sketch of a product in memory: its jobs, and the buffers it needs, before these have their places."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.host.batches import Batches

from ...onnx.catalogue import CATALOGUE
from ...onnx.node import attribute
from ...onnx.operator import Work
from ..convolutions import DEPTHWISE
from ..operations import Asked, Image, Operation
from ..products import Known, computed_parameter
from ..steps import EngineStep
from .mapped import cycles_of, joined
from .memory_map import ALIGNMENT
from .pieces import NotCompiledError, Piece, blank, pieces_of

__all__ = ["BLANK", "OperationSketch", "ProductSketch", "Rows", "Tile", "sketch", "with_zero_points"]

BLANK = (0, 0xFF)
"""Two bytes for a computed zero point: lists are made for the first, and differ for the second where it is stored."""
_BEAT = 16  # bytes, of the widest bus


@dataclasses.dataclass(frozen=True, kw_only=True)
class Tile:
    """Columns of B's `batch` as the words of the engine, `size` bytes at `offset` of its buffer."""

    batch: int
    columns: slice
    offset: int
    size: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rows:
    """`count` rows of `size` bytes, `stride` apart."""

    count: int
    size: int
    stride: int

    @classmethod
    def of(cls, count: int, size: int) -> Rows:
        """Rows that begin with a beat of every bus, or lie within one: none takes a beat more than it must."""
        return cls(
            count=count, size=size, stride=1 << (size - 1).bit_length() if size < _BEAT else -(-size // _BEAT) * _BEAT
        )

    @property
    def bytes(self) -> int:
        """Room for all, gaps and all."""
        return self.count * self.stride


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class OperationSketch:
    """An operation with its jobs, and the layout of A, B and Y. B is stored in `tiles`, or row by row if that is None.

    With `image`, the rows of `a` are the pixels of a convolution with all channels. `result` is the shape of the
    result.
    """

    operation: Operation
    pieces: tuple[Piece, ...]
    tiles: tuple[Tile, ...] | None
    result: tuple[int, ...]
    a: Rows
    b: Rows
    y: Rows
    image: bool = False

    @property
    def k(self) -> int:
        """Rows of B."""
        return self.operation.shape[1]

    @property
    def n(self) -> int:
        """Elements of a row of Y."""
        return self.operation.shape[2]


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class ProductSketch:
    """A product's operations: one, unless it is a convolution of several groups whose windows are rows. `known` says
    which parameters are known before the model runs. For `before` and `after`, see `Asked`.
    """

    step: EngineStep
    known: Known
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    operations: tuple[OperationSketch, ...]

    @property
    def image(self) -> bool:
        """True if A is the image of a convolution."""
        return self.operations[0].image

    @property
    def channels_last(self) -> bool:
        """True if the node is a convolution whose pixels are the last dimension of its tensors."""
        return bool(attribute(self.step.node, "channels_last", 0))

    @property
    def rows_are_last(self) -> bool:
        """True if a row of A or Y in place is a last dimension of the node's tensor."""
        return self.channels_last or CATALOGUE.of(self.step.node).work is not Work.CONVOLUTION

    def takes(self, other: ProductSketch) -> bool:
        """True if Y of `other` can be used in place as this product's A."""
        mine, theirs = self.step.node, other.step.node
        alike = CATALOGUE.of(mine).work is CATALOGUE.of(theirs).work and self.channels_last == other.channels_last
        alike = alike or (self.rows_are_last and other.rows_are_last)
        rows = self.in_place("a")
        return mine.input[0] == theirs.output[0] and alike and rows is not None and rows == other.in_place("y")

    @property
    def b_in_place(self) -> tuple[Rows | None, str]:
        """The layout of B, if it is computed and each of its rows is a row of the node's tensor; and that tensor."""
        node, operation = self.step.node, self.operations[0]
        name = CATALOGUE.of(node).given(node).get("b", "")
        plain = len(self.operations) == 1 and operation.tiles is None and not attribute(node, "transB", 0)
        matrix = CATALOGUE.of(node).work is Work.MATRIX and operation.operation.b.ndim > 1
        return (operation.b if plain and matrix and not self.known.b else None), name

    def in_place(self, operand: str) -> Rows | None:
        """The layout of A or Y, if each of its rows is a row of the node's tensor; a pixel, if that is an image."""
        node, operation = self.step.node, self.operations[0]
        operator = CATALOGUE.of(node)
        image = operator.work is Work.CONVOLUTION
        if len(self.operations) > 1:
            return None
        if operand == "y":
            fits = operation.y.size == operation.n and (image or "y_scale" in operator.inputs)
            return operation.y if fits else None
        if image:
            return operation.a if self.image else None
        whole = "a" in operator.inputs and not attribute(node, "transA", 0)
        once = operation.operation.a.size == operation.a.count * operation.k  # no batch of A is there twice
        return operation.a if operator.work is Work.MATRIX and whole and once else None


def sketch(
    step: EngineStep, asked: Asked, known: Known, constants: set[str], config: EngineConfig, bus_bytes: int
) -> ProductSketch:
    """The product of `step`, of operands whose shapes alone matter; NotCompiledError where it is not for memory."""
    if (name := computed_parameter(step.node, constants)) is not None:
        raise NotCompiledError(f"{name!r} must be constant, and is computed")
    given = [with_zero_points(operation, known, BLANK[0]) for operation in asked.operations]
    image, whole, before = asked.image, None, asked.before
    if image is not None and known == Known(b=True, a_zero_point=True, b_zero_point=True):
        whole = _by_address(image, given, config, bus_bytes)
    depthwise = image is not None and image.is_depthwise
    if depthwise and whole is None:
        raise NotCompiledError(f"{DEPTHWISE}, unless its kernels and zero points are constant and its windows fit")
    if whole is not None and (depthwise or config.vector):  # the host moves nothing between steps of a vector unit
        operations = [whole]
    else:
        operations = [_operation(operation, known.b, config) for operation in given]
        if whole is not None and _cost([whole], config, bus_bytes) <= _cost(operations, config, bus_bytes):
            operations = [whole]
    if operations[0].image:
        before = dict(before) | {"a": "pixels of the image, one below the other, all channels"}
    return ProductSketch(step=step, known=known, before=before, after=asked.after, operations=tuple(operations))


def _by_address(image: Image, given: list[Operation], config: EngineConfig, bus_bytes: int) -> OperationSketch | None:
    """The operation over the image, for all groups; None if there is none."""
    images, height, width, channels = image.pixels.shape
    pixels = Rows.of(images * height * width, channels)
    if (found := joined(image, given, pixels.stride, config, bus_bytes)) is None:
        return None
    operation, pieces = found
    rows, k, n = operation.shape
    return OperationSketch(
        operation=operation, pieces=pieces, tiles=_tiles(pieces, config), result=(rows, n), a=pixels, b=Rows.of(k, n),
        y=Rows.of(rows, n * operation.bytes_of_y), image=True,
    )  # fmt: skip


def _cost(operations: list[OperationSketch], config: EngineConfig, bus_bytes: int) -> int:
    """Cycles of `operations` by the cycle model, with one for each byte of A that the host moves."""
    return sum(cycles_of(each.pieces, config, bus_bytes) + each.a.count * each.a.size for each in operations)


def with_zero_points(operation: Operation, known: Known, byte: int, names: tuple[str, ...] = ("a", "b")) -> Operation:
    """`operation` with this byte in the place of each zero point that is computed."""
    for name in names:
        field = f"{name}_zero_point"
        value = getattr(operation, field)
        if value is None or getattr(known, field):
            continue
        if value.size > 1:
            what = "row" if name == "a" else "column"
            raise NotCompiledError(f"the zero point of {name.upper()} must be one, and is computed for each {what}")
        there = np.full(value.shape, byte, np.uint8).view(value.dtype)
        operation = dataclasses.replace(operation, **{field: there})
    return operation


def _operation(operation: Operation, b_known: bool, config: EngineConfig) -> OperationSketch:
    pieces = pieces_of(operation, config)
    batches = Batches(operation.a, operation.b)
    _, k, n = operation.shape
    rows = batches.count * batches.m
    return OperationSketch(
        operation=dataclasses.replace(
            operation, a=blank(operation.a), b=operation.b if b_known else blank(operation.b)
        ),
        pieces=pieces,
        tiles=_tiles(pieces, config) if b_known or config.depth > 1 else None,
        result=batches.result,
        a=Rows.of(rows, k),
        b=Rows.of(len(batches.b) * k, n),
        y=Rows.of(rows, n * operation.bytes_of_y),
    )


def _tiles(pieces: tuple[Piece, ...], config: EngineConfig) -> tuple[Tile, ...]:
    tiles: dict[tuple[int, int, int], Tile] = {}
    at = 0
    for piece in pieces:
        key = piece.batch, piece.columns.start, piece.columns.stop
        if key not in tiles:
            words = -(-piece.job.n // config.cols) * -(-piece.job.k // config.depth)
            size = words * config.cols * config.depth
            tiles[key] = Tile(batch=piece.batch, columns=piece.columns, offset=at, size=size)
            at += -(-size // ALIGNMENT) * ALIGNMENT
    return tuple(tiles.values())
