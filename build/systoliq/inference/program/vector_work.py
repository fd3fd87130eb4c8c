"""Work of the vector unit: operations, and the rows of bytes that each command reads and writes, before addresses."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from systoliq.golden.formats import IntFormat
from systoliq.hw.dma.vector_commands import (
    LARGEST_ROW,
    LARGEST_ROWS,
    AnyOperation,
    ProductOperation,
    VectorOperation,
    VectorPlacement,
)

from ..operations import Array
from .memory_map import Role
from .sketch import Rows

__all__ = ["MOST_COMMANDS", "SCRATCH", "VectorCommand", "VectorWork", "layout_of", "places_of", "rectangles"]

SCRATCH: Role = "scratch"
"""The tensor of a step that no other step sees."""
MOST_COMMANDS = 2048
"""Commands of a step; one takes about as many cycles as 100 words of the bus."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class VectorCommand:
    """`rows` of `row_bytes` by operation number `operation`; each of `places` is a tensor's name with the offset of the
    first row and the stride of rows, for A, B if the operation is on a pair, and Y.
    """

    operation: int
    rows: int
    row_bytes: int
    places: tuple[tuple[str, int, int], ...]

    @property
    def roles(self) -> str:
        """The letters of `places`."""
        return "aby" if len(self.places) == 3 else "ay"


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class VectorWork:
    """Commands in order, for tensors "a", "b", "y" and `SCRATCH`, of `scratch` bytes.

    `apply` returns the step's output for its inputs, as golden has it. ValueError for more than `MOST_COMMANDS`.
    """

    operations: tuple[AnyOperation, ...]
    commands: tuple[VectorCommand, ...]
    apply: Callable[..., Array]
    operand: IntFormat
    output: IntFormat
    scratch: int = 0

    def __post_init__(self) -> None:
        if len(self.commands) > MOST_COMMANDS:
            found = len(self.commands)
            raise ValueError(f"its bytes lie in pieces that take {found} commands, and must take {MOST_COMMANDS}")

    @classmethod
    def elementwise(
        cls, operation: VectorOperation | ProductOperation, shape: tuple[int, ...], operands: list[tuple[int, ...]]
    ) -> VectorWork:
        """`operation` on `operands` of these shapes, which broadcast to `shape`; rows without gaps are one row."""
        at = [np.broadcast_to(places_of(each), shape) for each in (*operands, shape)]
        names = "aby" if operation.pair else "ay"
        commands = tuple(
            VectorCommand(
                operation=0, rows=rows, row_bytes=size,
                places=tuple((name, *place) for name, place in zip(names, places, strict=True)),
            )
            for rows, size, places in rectangles(at)
        )  # fmt: skip

        def apply(*given: Array) -> Array:
            return operation.apply(*np.broadcast_arrays(*given))

        return cls(
            operations=(operation,), commands=commands, apply=apply, operand=operation.operand,
            output=operation.output,
        )  # fmt: skip

    def placed(
        self, addresses: Mapping[str, int], tables: tuple[tuple[int, ...], ...]
    ) -> Iterator[tuple[AnyOperation, VectorPlacement]]:
        """The commands for tensors and the tables of each operation at these addresses."""
        for each in self.commands:
            found: dict[str, int] = {}
            for role, (tensor, offset, stride) in zip(each.roles, each.places, strict=True):
                found |= {role: addresses[tensor] + offset, f"{role}_stride": stride}
            of = tables[each.operation]
            place = VectorPlacement(rows=each.rows, row_bytes=each.row_bytes, a_table=of[0], b_table=of[-1], **found)
            yield self.operations[each.operation], place

    @property
    def bytes(self) -> dict[str, int]:
        """Bytes that the commands read of A and B and write of Y, tables left out."""
        found = dict.fromkeys("aby", 0)
        for each in self.commands:
            for name in each.roles:
                found[name] += each.rows * each.row_bytes
        return found


def layout_of(shape: tuple[int, ...]) -> Rows:
    """The layout of a tensor of bytes: a row for each last dimension."""
    return Rows.of(int(np.prod(shape[:-1], dtype=int)), shape[-1])


def places_of(shape: tuple[int, ...]) -> Array:
    """The offset of each element of a tensor of that layout."""
    rows = layout_of(shape)
    offsets: Array = np.arange(rows.count)[:, None] * rows.stride + np.arange(rows.size)
    return offsets.reshape(shape)


def rectangles(places: list[Array]) -> Iterator[tuple[int, int, list[tuple[int, int]]]]:
    """Rows of bytes that cover the elements at `places` of several tensors, in this order: how many rows, their bytes,
    and for each tensor the offset of the first row and the stride.
    """
    at = np.stack([each.reshape(-1) for each in places])
    breaks = np.flatnonzero((np.diff(at) != 1).any(axis=0)) + 1
    starts = np.concatenate([[0], breaks])
    sizes = np.diff(np.concatenate([starts, [at.shape[1]]]))
    heads = at[:, starts]
    steps = np.diff(heads)
    first = 0
    while first < len(starts):
        last = first + 1
        while (
            last < len(starts)
            and sizes[last] == sizes[first]
            and (steps[:, last - 1] == steps[:, first]).all()
            and last - first < LARGEST_ROWS
        ):
            last += 1
        stride = steps[:, first].tolist() if last - first > 1 else [0] * len(at)
        size = int(sizes[first])
        if size > LARGEST_ROW:
            for begin in range(0, size, LARGEST_ROW):
                yield 1, min(LARGEST_ROW, size - begin), [(head + begin, 0) for head in heads[:, first].tolist()]
            last = first + 1
        else:
            yield last - first, size, list(zip(heads[:, first].tolist(), stride, strict=True))
        first = last
