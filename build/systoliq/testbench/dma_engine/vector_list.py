"""A list of the vector unit for the testbench: each kind of operation, on bytes of every value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.formats import INT8, UINT8
from systoliq.golden.network import LayerNormalization, Multiplication, Tensor
from systoliq.golden.network.sum_tables import SumTables
from systoliq.hw.dma.row_operations import NormalizationOperation, RowOperation, SoftmaxOperation
from systoliq.hw.dma.vector_commands import AnyOperation, ProductOperation, VectorOperation, VectorPlacement
from systoliq.sim.engine.dma_engine import MemoryImage

__all__ = ["PlacedOperation", "placed_operations"]

_ROWS, _ROW = 5, 52  # of a tensor: at least 256 bytes, a row of which is no multiple of a bus's
_GAP = 3  # bytes from the end of a row to the next one


@dataclass(frozen=True, kw_only=True)
class PlacedOperation:
    """An operation, where its tensors are in memory, and the bytes of Y row by row."""

    operation: AnyOperation
    place: VectorPlacement
    y: npt.NDArray[Any]


def placed_operations(image: MemoryImage, bus_bytes: int, row_length: int) -> list[PlacedOperation]:
    """All kinds of operations that the unit has, those on rows if it has a `row_length`, with operands in `image`."""
    found = [*_elements(image.generator), *(_rows(image.generator, row_length) if row_length else ())]
    return [_placed(operation, image, bus_bytes) for operation in found]


def _elements(rng: np.random.Generator) -> Iterator[AnyOperation]:
    yield VectorOperation.lookup(rng.permutation(256) - 128, UINT8, INT8)
    a, b = (tuple(rng.integers(-(1 << 14), 1 << 14, 256).tolist()) for _ in range(2))
    yield VectorOperation(tables=SumTables(a=a, b=b, shift=7, output=UINT8), operand=INT8, pair=True)
    yield VectorOperation.larger(INT8)
    tensors = [
        Tensor(name=name, shape=(1,), format=INT8, scale=np.float32(scale), zero_point=zero_point)
        for name, scale, zero_point in (("a", 0.03, 5), ("b", 0.05, -9), ("y", 0.17, 3))
    ]
    yield ProductOperation(node=Multiplication(name="product", inputs=tuple(tensors[:2]), output=tensors[2]))


def _rows(rng: np.random.Generator, longest: int) -> Iterator[RowOperation]:
    yield SoftmaxOperation.of(longest, UINT8, np.float32(0.02), np.float32(1 / 256), 0)
    length = max(longest // 2, 2)
    x, y = (
        Tensor(name=name, shape=(1, length), format=INT8, scale=np.float32(scale), zero_point=zero_point)
        for name, scale, zero_point in (("x", 0.04, 7), ("y", 0.02, -4))
    )
    gain, shift = (rng.normal(middle, 0.3, length).astype(np.float32) for middle in (1, 0))
    node = LayerNormalization(
        name="normalization", inputs=(x,), output=y, epsilon=np.float32(1e-5), gain=gain, shift=shift
    )
    yield NormalizationOperation(node=node)


def _placed(operation: AnyOperation, image: MemoryImage, bus_bytes: int) -> PlacedOperation:
    """The operation with every byte among its operands, which begin at odd places."""
    row = operation.length if isinstance(operation, RowOperation) else _ROW
    bytes_of = np.arange(_ROWS * row).astype(np.uint8)
    a, b = (image.generator.permutation(bytes_of).reshape(_ROWS, row) for _ in range(2))
    tables = [image.put(table, bus_bytes) for table in operation.memory]
    if isinstance(operation, RowOperation):
        given, y = [a], operation.apply(a.view(operation.node.inputs[0].format.dtype))
    else:
        given = [a, b] if operation.pair else [a]
        y = operation.apply(*(x.view(operation.operand.dtype) for x in given))
    (at_a, a_stride), *of_b = (image.matrix(x, gap=_GAP, align=bus_bytes, offset=1) for x in given)
    at_y, y_stride = image.matrix(np.zeros_like(a), gap=_GAP, align=bus_bytes, offset=bus_bytes - 1)
    pair = {"b": of_b[0][0], "b_stride": of_b[0][1], "b_table": tables[1]} if of_b else {}
    place = VectorPlacement(
        rows=_ROWS, row_bytes=row, a=at_a, a_stride=a_stride, y=at_y, y_stride=y_stride, a_table=tables[0], **pair
    )
    return PlacedOperation(operation=operation, place=place, y=y)
