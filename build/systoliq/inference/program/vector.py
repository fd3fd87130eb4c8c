"""Steps of the vector unit in memory: the buffers of a step, and the list that runs it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cached_property

import numpy as np

from systoliq.hw.dma.row_operations import RowOperation
from systoliq.hw.dma.vector_commands import vector_commands
from systoliq.sim.engine.memory import EngineMemory, Played

from ...onnx.catalogue import CATALOGUE
from ...onnx.operator import Work
from ..operations import Array
from ..steps import VectorStep
from .memory_map import Buffer
from .playing import rows_in
from .product import bytes_of_rows
from .sketch import ProductSketch, Rows
from .vector_work import VectorWork, layout_of

__all__ = ["VectorInMemory", "VectorSketch", "play_vector", "rows_in_place", "vector_list"]

_CYCLES = 400  # of a row at the most, and of a word of the list


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class VectorSketch:
    """A step with its work, and the shapes of its tensors by "a", "b" and "y": a row for each last dimension.

    `constants` are the operands that are known, by letter.
    """

    step: VectorStep
    work: VectorWork
    shapes: Mapping[str, tuple[int, ...]]
    constants: Mapping[str, Array]

    @property
    def operands(self) -> str:
        """The letters of the tensors that it reads."""
        return "ab"[: len(self.step.inputs)]

    @cached_property
    def rows(self) -> Mapping[str, Rows]:
        """The layout of each tensor."""
        return {name: layout_of(shape) for name, shape in self.shapes.items()}

    @cached_property
    def memory(self) -> tuple[tuple[bytes, ...], ...]:
        """The tables of each operation."""
        return tuple(operation.memory for operation in self.work.operations)


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class VectorInMemory:
    """A step of the vector unit of a compiled model: step number `number`.

    `sources` names the step whose Y is an operand already, by the operand's letter; the host fills the operands in
    `filled`, plays the list, and takes Y. Others are constant, and kept.
    """

    number: int
    sketch: VectorSketch
    operands: Mapping[str, Buffer]
    y: Buffer
    scratch: Buffer | None
    tables: tuple[tuple[Buffer, ...], ...]
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
        return bool(self.filled)

    @property
    def filled(self) -> tuple[str, ...]:
        """The letters of the operands that the host fills."""
        return tuple(name for name, buffer in self.operands.items() if name not in self.sources and not buffer.kept)

    @property
    def parts(self) -> tuple[tuple[Buffer, int], ...]:
        """Its list, which has no jobs."""
        return ((self.list, 0),)

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """All that it has, each once."""
        tables = [table for each in self.tables for table in each]
        scratch = () if self.scratch is None else (self.scratch,)
        return tuple(dict.fromkeys((*self.operands.values(), self.y, *scratch, *tables, self.list)))

    @property
    def bytes(self) -> dict[str, int]:
        """Bytes that the unit reads of A, B, tables and the list, and writes of Y; and bytes that the host writes."""
        found = self.sketch.work.bytes
        work = self.sketch.work
        for operation, tables in zip(work.operations, self.tables, strict=True):
            if isinstance(operation, RowOperation):
                found["b"] += tables[0].size * (1 if operation.loads else sum(each.rows for each in work.commands))
                continue
            for name, table in zip("ab", tables, strict=False):
                found[name] += table.size
        filled = (self.operands[name] for name in self.filled)
        return found | {"list": len(self.data), "host": sum(each.rows * each.row_bytes for each in filled)}


def rows_in_place(sketch: ProductSketch, operand: str) -> Rows | None:
    """The layout of A or Y of a product, if each of its rows is one last dimension of the node's tensor."""
    image = CATALOGUE.of(sketch.step.node).work is Work.CONVOLUTION
    return None if image and not sketch.channels_last else sketch.in_place(operand)


def vector_list(sketch: VectorSketch, addresses: Mapping[str, int], tables: tuple[tuple[int, ...], ...]) -> bytes:
    """The list of a step with tensors and the tables of each operation at these addresses."""
    return vector_commands(sketch.work.placed(addresses, tables)).data


def play_vector(step: VectorInMemory, given: list[Array], memory: EngineMemory) -> tuple[Array, Played]:
    """Run `step` on the tensors `given`; returns its output, and the report of its list."""
    sketch = step.sketch
    writes = [
        (buffer.address, bytes_of_rows(sketch.rows[name], np.ascontiguousarray(array)))
        for (name, buffer), array in zip(step.operands.items(), given, strict=True)
        if name in step.filled
    ]
    played = memory.play(
        step.list.address,
        len(step.data),
        jobs=0,
        writes=writes,
        reads=[(step.y.address, step.y.size)],
        limit=_CYCLES * (sum(each.rows for each in sketch.work.commands) + len(step.data) // 4)
        + 32 * sum(sketch.work.bytes.values())
        + 5000,
    )
    (data,) = played.data
    return rows_in(step.y, data, np.dtype(sketch.work.output.dtype)).reshape(sketch.shapes["y"]), played
