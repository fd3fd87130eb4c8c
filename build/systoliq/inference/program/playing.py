"""Playing of a product: the bytes that the host writes for its operands, and its results."""

from __future__ import annotations

from typing import Any

import numpy as np

from systoliq.hw.engine import EngineConfig, JobShape
from systoliq.hw.engine.host.batches import Batches
from systoliq.sim.engine.memory import EngineMemory, Played

from ..operations import Array, Asked
from .memory_map import Buffer
from .product import OperationInMemory, Product, bytes_of_b, bytes_of_rows

__all__ = ["play", "rows_in", "rows_of_a", "taken", "writes"]

_PER_WORD = 40  # cycles of a word of a list at the most


def play(product: Product, asked: Asked, memory: EngineMemory, config: EngineConfig) -> tuple[Array, list[Played]]:
    """Run `product` for the operands of `asked`, with the compiled shapes; returns the node's result, and a report per
    list.
    """
    reads = [(operation.y.address, operation.y.size) for operation in product.operations]
    played: list[Played] = []
    for place, each in enumerate(product.lists):
        shapes = [JobShape(m=p.job.m, k=p.job.k, n=p.job.n, config=config) for p in each.pieces]
        words = sum(shape.a_words + shape.b_words + shape.m * shape.n for shape in shapes)
        tiles = sum(shape.groups * shape.column_tiles * shape.tile_cycles for shape in shapes)
        played.append(
            memory.play(
                each.buffer.address,
                len(each.data),
                jobs=len(each.pieces),
                writes=writes(product, asked, config) if place == 0 else (),
                reads=reads if each is product.lists[-1] else (),
                limit=4 * (tiles + 8 * words) + _PER_WORD * len(each.data) // 4 + 1000,
            )
        )
    results = [taken(operation, data) for operation, data in zip(product.operations, played[-1].data, strict=True)]
    return asked.finish(results), played


def writes(product: Product, asked: Asked, config: EngineConfig) -> list[tuple[int, bytes]]:
    """Bytes to write to memory before the lists of `product` are played: (address, bytes)."""
    found: list[tuple[int, bytes]] = []
    for place, operation in enumerate(product.operations):
        given = asked.operations[place]
        if product.fills_a:
            found.append((operation.a.address, bytes_of_rows(operation.sketch.a, rows_of_a(product, asked, place))))
        if product.fills_b:
            b = Batches(given.a, given.b).b
            found.append((operation.b.address, bytes_of_b(operation.sketch, b, config)))
    for patch in product.patches:
        zero_point = getattr(asked.operations[0], f"{patch.operand}_zero_point")
        byte = bytes([(int(zero_point.reshape(())) & 0xFF) ^ patch.flip])
        found += [(address, byte) for address in patch.addresses]
    return found


def taken(operation: OperationInMemory, data: bytes) -> Array:
    """The result of `operation` from the bytes of its Y."""
    return rows_in(operation.y, data, operation.sketch.pieces[0].job.y_dtype).reshape(operation.sketch.result)


def rows_in(buffer: Buffer, data: bytes, dtype: np.dtype[Any]) -> Array:
    """The rows of `buffer`, whose memory begins with `data`, without gaps; the rest of it is 0."""
    rows = np.frombuffer(data + bytes(buffer.rows * buffer.stride - len(data)), np.uint8)
    rows = rows.reshape(buffer.rows, buffer.stride)[:, : buffer.row_bytes]
    found: Array = np.ascontiguousarray(rows).view(dtype.newbyteorder("<")).astype(dtype)
    return found


def rows_of_a(product: Product, asked: Asked, place: int) -> Array:
    """The rows of A of operation number `place`: pixels of an image, or rows of all batches."""
    if product.sketch.image and asked.image is not None:
        return np.ascontiguousarray(asked.image.pixels).reshape(-1, asked.image.pixels.shape[-1])
    batches = Batches(asked.operations[place].a, asked.operations[place].b)
    return np.ascontiguousarray(batches.a).reshape(-1, batches.k)
