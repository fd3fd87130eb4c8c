"""Products in memory: the buffers of a product, the lists that run its jobs, and what the host writes into these."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from systoliq.hw.dma.commands import Placement, command_list, tiled
from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.host.batches import Batches
from systoliq.hw.engine.status import JOBS_BITS

from .memory_map import Buffer
from .pieces import Piece, pieces_of
from .sketch import BLANK, OperationSketch, ProductSketch, with_zero_points

__all__ = ["JobList", "OperationInMemory", "Patch", "Product", "lists_of", "patches_of", "placements", "words_of_b"]

_LIST_BYTES = 1 << 24  # LIST_EXTENT has 24 bits
_JOBS = (1 << JOBS_BITS) - 1  # STATUS.jobs counts them


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class JobList:
    """A list of commands in memory, and the jobs that it runs."""

    buffer: Buffer
    data: bytes
    pieces: tuple[Piece, ...]
    places: tuple[Placement, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Patch:
    """Bytes of lists, by their addresses, that the host writes: the zero point of `operand`, which is computed.

    Each is the zero point's byte with the bits of `flip` inverted.
    """

    operand: str
    flip: int
    addresses: tuple[int, ...]


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class OperationInMemory:
    """An operation, and where its A, B and Y lie."""

    sketch: OperationSketch
    a: Buffer
    b: Buffer
    y: Buffer


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Product:
    """A product of a compiled model: step number `number`. `a_from` names the product whose Y is this one's A already.

    The host fills A, and B unless that is kept, applies `patches`, plays `lists` one after the other, and takes Y.
    """

    number: int
    sketch: ProductSketch
    operations: tuple[OperationInMemory, ...]
    lists: tuple[JobList, ...]
    patches: tuple[Patch, ...]
    a_from: str | None

    @property
    def name(self) -> str:
        """As the model has it."""
        return self.sketch.step.name

    @property
    def operator(self) -> str:
        """Of the lowered graph's node."""
        return self.sketch.step.node.op_type

    @property
    def jobs(self) -> int:
        """Of all lists."""
        return sum(len(each.pieces) for each in self.lists)

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """All that it has, each once."""
        of_operations = (each for operation in self.operations for each in (operation.a, operation.b, operation.y))
        return (*of_operations, *(each.buffer for each in self.lists))

    @property
    def bytes(self) -> dict[str, int]:
        """Bytes that its jobs read of A and B, write of Y, and read of lists."""
        parts = [piece.bytes for each in self.lists for piece in each.pieces]
        total = {name: sum(part[name] for part in parts) for name in ("a", "b", "y")}
        return total | {"list": sum(len(each.data) for each in self.lists)}


def words_of_b(operation: OperationSketch, b: Any, config: EngineConfig) -> bytes:
    """B [batches, k, n] as `operation` lays it out."""
    if operation.tiles is None:
        rows = np.zeros((operation.b_rows, operation.b_stride), np.uint8)
        rows[:, : operation.n] = b.reshape(operation.b_rows, operation.n).view(np.uint8)
        return rows.tobytes()[: (operation.b_rows - 1) * operation.b_stride + operation.n]
    data = bytearray(operation.b_bytes[1])
    for tile in operation.tiles:
        data[tile.offset : tile.offset + tile.size] = tiled(b[tile.batch][:, tile.columns], config).tobytes()
    return bytes(data)


def constant_b(operation: OperationSketch, config: EngineConfig) -> bytes:
    """The B that is known, laid out."""
    batches = Batches(operation.operation.a, operation.operation.b)
    return words_of_b(operation, batches.b, config)


def placements(operation: OperationSketch, a: int, b: int, y: int) -> list[Placement]:
    """Where the matrices of each job lie, whose operation's begin at these addresses."""
    tiles = {(each.batch, each.columns.start, each.columns.stop): each.offset for each in operation.tiles or ()}
    places = []
    for piece in operation.pieces:
        column = piece.columns.start
        at = (
            piece.batch * operation.k * operation.b_stride + column
            if operation.tiles is None
            else tiles[piece.batch, column, piece.columns.stop]
        )
        places.append(
            Placement(
                a=a + piece.rows.start * operation.a_stride,
                a_stride=operation.a_stride,
                b=b + at,
                b_stride=operation.b_stride if operation.tiles is None else None,
                y=y + piece.rows.start * operation.y_stride + column * piece.job.y_dtype.itemsize,
                y_stride=operation.y_stride,
            )
        )
    return places


def lists_of(
    pieces: Sequence[Piece], places: Sequence[Placement], config: EngineConfig, bus_bytes: int
) -> list[tuple[bytes, int]]:
    """The lists that run `pieces` in order, each with how many of them: one, unless it would be too long."""
    if len(pieces) <= _JOBS:
        data = command_list([piece.job for piece in pieces], places, config, bus_bytes).data
        if len(data) <= _LIST_BYTES or len(pieces) == 1:
            return [(data, len(pieces))]
    half = len(pieces) // 2
    return [
        *lists_of(pieces[:half], places[:half], config, bus_bytes),
        *lists_of(pieces[half:], places[half:], config, bus_bytes),
    ]


def patches_of(
    sketch: ProductSketch,
    places: Sequence[Placement],
    lists: Sequence[tuple[bytes, int]],
    addresses: Sequence[int],
    config: EngineConfig,
    bus_bytes: int,
) -> tuple[Patch, ...]:
    """Where the zero points that are computed go, in `lists` at `addresses`: the lists for another one differ there."""
    patches = []
    for operand in ("a", "b"):
        other = [
            piece
            for each in sketch.operations
            for piece in pieces_of(with_zero_points(each.operation, sketch.known, BLANK[1], (operand,)), config)
        ]
        found: list[tuple[int, int]] = []
        for (data, _), (changed, _), address in zip(
            lists, lists_of(other, places, config, bus_bytes), addresses, strict=True
        ):
            one, two = (np.frombuffer(each, np.uint8) for each in (data, changed))
            at = np.flatnonzero(one != two)
            if np.any(one[at] ^ two[at] != BLANK[0] ^ BLANK[1]):
                raise RuntimeError(f"a zero point of {operand.upper()} must be a byte of its own in a list")
            found += [(address + int(place), int(one[place]) ^ BLANK[0]) for place in at]
        for flip in sorted({flip for _, flip in found}):
            where = tuple(place for place, own in found if own == flip)
            patches.append(Patch(operand=operand, flip=flip, addresses=where))
    return tuple(patches)
