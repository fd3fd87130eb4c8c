"""Steps of the vector unit in memory: the buffers of a step, and the list that runs it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np

from systoliq.hw.dma.vector_commands import (
    LARGEST_ROW,
    LARGEST_ROWS,
    VectorOperation,
    VectorPlacement,
    vector_commands,
)
from systoliq.sim.engine.memory import EngineMemory, Played

from ...onnx.catalogue import CATALOGUE
from ...onnx.operator import Work
from ..operations import Array
from ..steps import VectorStep
from .memory_map import Buffer
from .playing import rows_in
from .product import bytes_of_rows
from .sketch import ProductSketch, Rows

__all__ = ["VectorInMemory", "VectorSketch", "play_vector", "rows_in_place", "vector_list"]

_CYCLES = 40  # of a row at the most, and of a word of the list


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class VectorSketch:
    """A step with its operation, and the layout of all its tensors of `shape`: a row for each last dimension."""

    step: VectorStep
    operation: VectorOperation
    shape: tuple[int, ...]

    @property
    def operands(self) -> str:
        """The letters of the tensors that it reads."""
        return "ab"[: len(self.step.inputs)]

    @cached_property
    def rows(self) -> Rows:
        """The layout of each tensor."""
        return Rows.of(int(np.prod(self.shape[:-1], dtype=int)), self.shape[-1])

    def placements(self, a: int, b: int, y: int, tables: tuple[int, ...]) -> Iterator[VectorPlacement]:
        """The commands for tensors at these addresses: rows without gaps are one row."""
        rows = self.rows
        if rows.size == rows.stride:
            starts = range(0, rows.bytes, LARGEST_ROW)
            parts = [(at, 1, min(LARGEST_ROW, rows.bytes - at)) for at in starts]
        else:
            starts = range(0, rows.count, LARGEST_ROWS)
            parts = [(at * rows.stride, min(LARGEST_ROWS, rows.count - at), rows.size) for at in starts]
        for offset, count, size in parts:
            yield VectorPlacement(
                rows=count,
                row_bytes=size,
                a=a + offset,
                a_stride=rows.stride,
                b=b + offset,
                b_stride=rows.stride,
                y=y + offset,
                y_stride=rows.stride,
                a_table=tables[0],
                b_table=tables[-1],
            )


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class VectorInMemory:
    """A step of the vector unit of a compiled model: step number `number`.

    `sources` names the step whose Y is an operand already, by the operand's letter; the host fills the others, plays
    the list, and takes Y.
    """

    number: int
    sketch: VectorSketch
    operands: Mapping[str, Buffer]
    y: Buffer
    tables: tuple[Buffer, ...]
    list: Buffer
    data: bytes
    sources: Mapping[str, str]

    @property
    def name(self) -> str:
        """Name in the model."""
        return self.sketch.step.name

    @property
    def operator(self) -> str:
        """Operators of the lowered graph's nodes."""
        return self.sketch.step.operator

    @property
    def needs_host(self) -> bool:
        """True if the host fills an operand."""
        return len(self.sources) < len(self.operands)

    @property
    def parts(self) -> tuple[tuple[Buffer, int], ...]:
        """Its list, which has no jobs."""
        return ((self.list, 0),)

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """All that it has, each once."""
        return tuple(dict.fromkeys((*self.operands.values(), self.y, *self.tables, self.list)))

    @property
    def bytes(self) -> dict[str, int]:
        """Bytes that the unit reads of A, B, tables and the list, and writes of Y; and bytes that the host writes."""
        size = self.sketch.rows.count * self.sketch.rows.size
        found = {name: size + 1024 if name in self.operands else 0 for name in "ab"}
        filled = len(self.operands) - len(self.sources)
        return found | {"y": size, "list": len(self.data), "host": filled * size}


def rows_in_place(sketch: ProductSketch, operand: str) -> Rows | None:
    """The layout of A or Y of a product, if each of its rows is one last dimension of the node's tensor."""
    image = CATALOGUE.of(sketch.step.node).work is Work.CONVOLUTION
    return None if image and not sketch.channels_last else sketch.in_place(operand)


def vector_list(sketch: VectorSketch, a: int, b: int, y: int, tables: tuple[int, ...]) -> bytes:
    """The list of a step with tensors and tables at these addresses."""
    places = sketch.placements(a, b, y, tables)
    return vector_commands([(sketch.operation, place) for place in places]).data


def play_vector(step: VectorInMemory, given: list[Array], memory: EngineMemory) -> tuple[Array, Played]:
    """Run `step` on the tensors `given`; returns its output, and the report of its list."""
    sketch, rows = step.sketch, step.sketch.rows
    writes = [
        (buffer.address, bytes_of_rows(rows, np.ascontiguousarray(array)))
        for (name, buffer), array in zip(step.operands.items(), given, strict=True)
        if name not in step.sources
    ]
    played = memory.play(
        step.list.address,
        len(step.data),
        jobs=0,
        writes=writes,
        reads=[(step.y.address, step.y.size)],
        limit=_CYCLES * (rows.count + len(step.data) // 4) + 8 * rows.bytes + 5000,
    )
    (data,) = played.data
    return rows_in(step.y, data, np.dtype(sketch.operation.tables.output.dtype)).reshape(sketch.shape), played
