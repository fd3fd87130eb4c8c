"""Products in memory: the buffers of a product, the lists that run its jobs, and the bytes that the host writes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np

from systoliq.hw.dma.commands import Placement, command_list, tiled
from systoliq.hw.dma.runs import EXTENT_BITS
from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.status import JOBS_BITS

from ..operations import Array
from .memory_map import Buffer
from .pieces import Piece, pieces_of
from .sketch import BLANK, OperationSketch, ProductSketch, Rows, with_zero_points

__all__ = [
    "LIST_BYTES",
    "MOST_JOBS",
    "JobList",
    "OperationInMemory",
    "Patch",
    "Product",
    "b_size",
    "bytes_of_b",
    "bytes_of_rows",
    "bytes_of_tiles",
    "lists_of",
    "patches_of",
    "placements",
]

LIST_BYTES = 1 << EXTENT_BITS
"""Bytes of a list at the most."""
_PAD = 0x5A  # between rows: never used
MOST_JOBS = (1 << JOBS_BITS) - 1
"""Jobs of a list at the most: STATUS.jobs counts them."""


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
    """A product of a compiled model: step number `number`. `a_from` and `b_from` name the steps whose Y
    are this one's A and B already.

    The host fills A, and B unless that is kept, applies `patches`, plays `lists` one after the other, and takes Y.
    """

    number: int
    sketch: ProductSketch
    operations: tuple[OperationInMemory, ...]
    lists: tuple[JobList, ...]
    patches: tuple[Patch, ...]
    a_from: str | None
    b_from: str | None = None

    @property
    def name(self) -> str:
        """Name in the model."""
        return self.sketch.step.name

    @property
    def operator(self) -> str:
        """Operator of the lowered graph's node."""
        return self.sketch.step.node.op_type

    @property
    def jobs(self) -> int:
        """Jobs of all lists."""
        return sum(len(each.pieces) for each in self.lists)

    @property
    def needs_host(self) -> bool:
        """True if the host fills an operand, or writes a zero point."""
        return self.fills_a or self.fills_b or bool(self.patches)

    @property
    def parts(self) -> tuple[tuple[Buffer, int], ...]:
        """Its lists, and the jobs of each."""
        return tuple((each.buffer, len(each.pieces)) for each in self.lists)

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """All that it has, each once."""
        of_operations = (each for operation in self.operations for each in (operation.a, operation.b, operation.y))
        return tuple(dict.fromkeys((*of_operations, *(each.buffer for each in self.lists))))

    @property
    def fills_a(self) -> bool:
        """True if the host fills A of each operation: not if it is another step's Y."""
        return self.a_from is None

    @property
    def fills_b(self) -> bool:
        """True if the host fills B of each operation: not if it is kept, or another step's Y."""
        return not self.sketch.known.b and self.b_from is None

    @property
    def bytes(self) -> dict[str, int]:
        """Bytes that its jobs read of A, B and lists, and write of Y; and bytes that the `host` writes."""
        parts = [piece.bytes for each in self.lists for piece in each.pieces]
        total = {name: sum(part[name] for part in parts) for name in ("a", "b", "y")}
        operations = [operation.sketch for operation in self.operations]
        host = sum(each.a.count * each.a.size for each in operations) if self.fills_a else 0
        if self.fills_b:
            host += sum(b_size(each).count * b_size(each).size for each in operations)
        return total | {"list": sum(len(each.data) for each in self.lists), "host": host}


def b_size(operation: OperationSketch) -> Rows:
    """Layout of B in its buffer: as rows, or all tiles as one row."""
    if operation.tiles is None:
        return operation.b
    size = operation.tiles[-1].offset + operation.tiles[-1].size
    return Rows(count=1, size=size, stride=size)


def bytes_of_rows(rows: Rows, matrix: Array) -> bytes:
    """`matrix` of bytes, row by row as `rows` lie, without the gap behind the last."""
    data = np.full((rows.count, rows.stride), _PAD, np.uint8)
    data[:, : rows.size] = matrix.reshape(rows.count, -1).view(np.uint8)
    return data.tobytes()[: rows.bytes - rows.stride + rows.size]


def bytes_of_b(operation: OperationSketch, b: Array, config: EngineConfig) -> bytes:
    """B [batches, k, n] as `operation` lays it out."""
    if operation.tiles is None:
        return bytes_of_rows(operation.b, b)
    return _in_tiles(operation, (b[tile.batch][:, tile.columns] for tile in operation.tiles), config)


def bytes_of_tiles(operation: OperationSketch, config: EngineConfig) -> bytes:
    """The constant B of the jobs of `operation`, tile by tile."""
    jobs = {(piece.batch, piece.columns.start): piece.job for piece in operation.pieces}
    tiles = operation.tiles or ()
    return _in_tiles(operation, (jobs[tile.batch, tile.columns.start].b for tile in tiles), config)


def _in_tiles(operation: OperationSketch, matrices: Iterable[Array], config: EngineConfig) -> bytes:
    """The `matrices` of the tiles of `operation` as words of the engine, each at its offset."""
    data = bytearray(b_size(operation).size)
    for tile, b in zip(operation.tiles or (), matrices, strict=True):
        data[tile.offset : tile.offset + tile.size] = tiled(b, config).tobytes()
    return bytes(data)


def placements(operation: OperationSketch, a: int, b: int, y: int) -> list[Placement]:
    """Placement of the matrices of each job, for an operation with matrices at these addresses."""
    tiles = {(each.batch, each.columns.start, each.columns.stop): each.offset for each in operation.tiles or ()}
    places = []
    for piece in operation.pieces:
        column = piece.columns.start
        at = (
            piece.batch * operation.k * operation.b.stride + column
            if operation.tiles is None
            else tiles[piece.batch, column, piece.columns.stop]
        )
        offset, maps = piece.maps or (piece.rows.start * operation.a.stride, None)
        places.append(
            Placement(
                a=a + offset,
                a_stride=operation.a.stride,
                b=b + at,
                b_stride=operation.b.stride if operation.tiles is None else None,
                y=y + piece.rows.start * operation.y.stride + column * piece.job.y_dtype.itemsize,
                y_stride=operation.y.stride,
                a_map=maps,
            )
        )
    return places


def lists_of(
    pieces: Sequence[Piece], places: Sequence[Placement], config: EngineConfig, bus_bytes: int
) -> list[tuple[bytes, int]]:
    """The lists that run `pieces` in order, each with how many of them: one, unless it would be too long."""
    if len(pieces) <= MOST_JOBS:
        data = command_list([piece.job for piece in pieces], places, config, bus_bytes).data
        if len(data) <= LIST_BYTES or len(pieces) == 1:
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
    """Places of computed zero points in `lists` at `addresses`, found by comparing lists for two zero points."""
    patches = []
    for operand in ("a", "b"):
        if getattr(sketch.known, f"{operand}_zero_point"):
            continue
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
