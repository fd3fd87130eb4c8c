"""Sketch of a product in memory: its jobs, and the buffers it needs, before these have their places."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.host.batches import Batches

from ...onnx.node import attribute
from ..operations import Asked, Operation
from ..products import Known, computed_parameter
from ..steps import EngineStep
from .memory_map import ALIGNMENT
from .pieces import NotCompiledError, Piece, blank, pieces_of

__all__ = ["BLANK", "OperationSketch", "ProductSketch", "Tile", "sketch", "with_zero_points"]

BLANK = (0, 0xFF)
"""Bytes of a zero point that is computed: lists are made for the first, and differ for the second where it goes."""
_ROWS_IN = ("QLinearMatMul", "MatMulInteger", "MatMulIntegerToFloat", "QGemm")  # A as the tensor has it
_ROWS_OUT = ("QLinearMatMul", "QGemm")  # Y as the tensor has it


@dataclasses.dataclass(frozen=True, kw_only=True)
class Tile:
    """Columns of B's `batch` as the words of the engine, `size` bytes at `offset` of its buffer."""

    batch: int
    columns: slice
    offset: int
    size: int


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class OperationSketch:
    """An operation with its jobs. `tiles` say how B lies; where it is None, row by row.

    `result` is the shape of what comes out, `rows` those of A and Y; strides are in bytes.
    """

    operation: Operation
    pieces: tuple[Piece, ...]
    tiles: tuple[Tile, ...] | None
    result: tuple[int, ...]
    rows: int
    a_stride: int
    y_stride: int
    b_stride: int
    b_rows: int

    @property
    def k(self) -> int:
        """Elements of a row of A."""
        return self.operation.shape[1]

    @property
    def n(self) -> int:
        """Elements of a row of Y."""
        return self.operation.shape[2]

    @property
    def b_bytes(self) -> tuple[int, int, int]:
        """Rows, bytes of a row and stride of B's buffer."""
        if self.tiles is None:
            return self.b_rows, self.n, self.b_stride
        size = self.tiles[-1].offset + self.tiles[-1].size
        return 1, size, size


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class ProductSketch:
    """A product's operations; `known` is what of them is before the model runs. `before`, `after`: as of `Asked`."""

    step: EngineStep
    known: Known
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    operations: tuple[OperationSketch, ...]

    def takes(self, other: ProductSketch) -> bool:
        """Whether Y of `other` is this product's A as it lies in memory."""
        mine, theirs = self.step.node, other.step.node
        rows = mine.op_type in _ROWS_IN and not attribute(mine, "transA", 0) and theirs.op_type in _ROWS_OUT
        if not rows or mine.input[0] != theirs.output[0]:
            return False
        a, y = self.operations[0], other.operations[0]
        same = (a.rows, a.k, a.a_stride) == (y.rows, y.n, y.y_stride)
        return same and a.operation.a.size == a.rows * a.k  # no batch of A is there twice


def sketch(step: EngineStep, asked: Asked, known: Known, constants: set[str], config: EngineConfig) -> ProductSketch:
    """The product of `step`, of operands whose shapes alone matter; NotCompiledError where it is not for memory."""
    if (name := computed_parameter(step.node, constants)) is not None:
        raise NotCompiledError(f"{name!r} must be constant, and is computed")
    operations = [with_zero_points(operation, known, BLANK[0]) for operation in asked.operations]
    return ProductSketch(
        step=step,
        known=known,
        before=asked.before,
        after=asked.after,
        operations=tuple(_operation(operation, known.b, config) for operation in operations),
    )


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
        blank = np.full(value.shape, byte, np.uint8).view(value.dtype)
        operation = dataclasses.replace(operation, **{field: blank})
    return operation


def _operation(operation: Operation, b_known: bool, config: EngineConfig) -> OperationSketch:
    pieces = pieces_of(operation, config)
    batches = Batches(operation.a, operation.b)
    _, k, n = operation.shape
    as_words = b_known or config.depth > 1
    return OperationSketch(
        operation=dataclasses.replace(
            operation, a=blank(operation.a), b=operation.b if b_known else blank(operation.b)
        ),
        pieces=pieces,
        tiles=_tiles(pieces, config) if as_words else None,
        result=batches.result,
        rows=batches.count * batches.m,
        a_stride=_stride(k),
        y_stride=_stride(n * operation.bytes_of_y),
        b_stride=_stride(n),
        b_rows=len(batches.b) * k,
    )


def _stride(size: int) -> int:
    """Rows begin with a beat of every bus, so that none is read twice."""
    return -(-size // _BEAT) * _BEAT


_BEAT = 16


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
