"""Sketch of a product in memory: its jobs, and the buffers it needs, before these have their places."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.config import LARGEST
from systoliq.hw.engine.host.batches import Batches

from ...onnx.catalogue import CATALOGUE
from ...onnx.node import attribute
from ...onnx.operator import Work
from ..operations import Asked, Image, Operation
from ..products import Known, computed_parameter
from ..steps import EngineStep
from .mapped import cycles_of, mapped, maps_of
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

    With `image`, the rows of `a` are the pixels of a convolution with all channels; this operation reads channels from
    `channel` on. `result` is the shape of the result.
    """

    operation: Operation
    pieces: tuple[Piece, ...]
    tiles: tuple[Tile, ...] | None
    result: tuple[int, ...]
    a: Rows
    b: Rows
    y: Rows
    image: bool = False
    channel: int = 0

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
    """A product's operations; `known` says which parameters are known before the model runs. For `before` and `after`,
    see `Asked`.
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

    def takes(self, other: ProductSketch) -> bool:
        """True if Y of `other` can be used in place as this product's A."""
        mine, theirs = self.step.node, other.step.node
        operator, before = CATALOGUE.of(mine), CATALOGUE.of(theirs)
        if (
            mine.input[0] != theirs.output[0]
            or len(other.operations) > 1
            or other.operations[0].y.size != other.operations[0].n
        ):
            return False
        if self.image:
            fits = before.work is Work.CONVOLUTION  # its rows are pixels, for any order of the tensor's dimensions
        else:
            a = self.operations[0]
            fits = operator.work is before.work is Work.MATRIX and "a" in operator.inputs and "y_scale" in before.inputs
            fits = (
                fits and not attribute(mine, "transA", 0) and a.operation.a.size == a.a.count * a.k
            )  # no batch of A is there twice
        return fits and self.operations[0].a == other.operations[0].y


def sketch(
    step: EngineStep, asked: Asked, known: Known, constants: set[str], config: EngineConfig, bus_bytes: int
) -> ProductSketch:
    """The product of `step`, of operands whose shapes alone matter; NotCompiledError where it is not for memory."""
    if (name := computed_parameter(step.node, constants)) is not None:
        raise NotCompiledError(f"{name!r} must be constant, and is computed")
    given = [with_zero_points(operation, known, BLANK[0]) for operation in asked.operations]
    operations = [_operation(operation, known.b, config) for operation in given]
    before = asked.before
    if asked.image is not None and known == Known(b=True, a_zero_point=True, b_zero_point=True):
        images = _by_address(asked.image, given, operations, config, bus_bytes)
        if images is not None:
            operations, before = images, dict(before) | {"a": "pixels of the image, one below the other, all channels"}
    return ProductSketch(step=step, known=known, before=before, after=asked.after, operations=tuple(operations))


def _by_address(
    image: Image, given: list[Operation], as_rows: list[OperationSketch], config: EngineConfig, bus_bytes: int
) -> list[OperationSketch] | None:
    """The operations over the image, where they take less by the cycle model, a byte that the host moves a cycle; with
    a vector unit wherever they can be, so that the host moves nothing between steps.
    """
    images, height, width, channels = image.pixels.shape
    pixels, found = Rows.of(images * height * width, channels), []
    for group, (operation, rows) in enumerate(zip(given, as_rows, strict=True)):
        maps = maps_of(image, operation, pixels.stride)
        if maps is None or maps.k(config) > LARGEST:
            return None
        whole, pieces = mapped(image, operation, group, maps, config)
        found.append(
            dataclasses.replace(
                rows, operation=dataclasses.replace(whole, a=blank(whole.a)), pieces=pieces,
                tiles=_tiles(pieces, config), a=pixels, image=True, channel=group * image.kernels.shape[1],
            )
        )  # fmt: skip
    engine = [sum(cycles_of(each.pieces, config, bus_bytes) for each in form) for form in (found, as_rows)]
    host = pixels.count * pixels.size, sum(each.a.count * each.a.size for each in as_rows)
    return found if config.vector or engine[0] + host[0] <= engine[1] + host[1] else None


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
