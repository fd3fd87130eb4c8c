"""Moves of bytes by the vector unit: nodes whose output elements are each an element of an input, through a table.

Where an element comes from is what onnxruntime does with an element's number, so that nothing of its kernels is
guessed: Concat, Slice, Gather, Transpose, Reshape, DepthToSpace, Resize to the nearest and all that follow each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from systoliq.golden.formats import IntFormat
from systoliq.hw.dma.vector_commands import VectorOperation

from ...onnx.node import attribute
from ..lowering import Lowered
from ..operations import Array
from ..steps import VectorStep
from .by_onnxruntime import by_onnxruntime
from .vector_work import VectorCommand, VectorWork, places_of, rectangles

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["JOINS", "MOVES", "move", "moved_inputs"]

MOVES = (
    "Concat", "DepthToSpace", "Flatten", "Gather", "QLinearConcat", "Reshape", "Resize", "Slice", "SpaceToDepth",
    "Squeeze", "Transpose", "Unsqueeze",
)  # fmt: skip
JOINS = ("Concat", "QLinearConcat")
"""Moves of which one input may be constant."""
_MOST = 1 << 24  # elements that a float32 can number


def moved_inputs(node: NodeProto) -> tuple[str, ...]:
    """The inputs whose elements a node of `MOVES` moves, each once."""
    names = node.input if node.op_type == "Concat" else node.input[2::3] if node.op_type == "QLinearConcat" else None
    return tuple(dict.fromkeys(node.input[:1] if names is None else names))


def move(model: Lowered, step: VectorStep, given: list[Array], y: Array) -> VectorWork:
    """The work of `step` for inputs and an output of the types and shapes of `given` and `y`; ValueError if the unit
    has none.
    """
    sizes = [x.size for x in given]
    if sum(sizes) >= _MOST:
        raise ValueError(f"it moves {sum(sizes)} bytes, and must move fewer than {_MOST}")
    starts = np.cumsum([0, *sizes])
    numbers = [
        np.arange(first, first + x.size, dtype=np.float32).reshape(x.shape)
        for first, x in zip(starts, given, strict=False)
    ]
    source = by_onnxruntime(model, step, [_numbered(node) for node in step.nodes])(*numbers).astype(np.int64)
    if source.shape != y.shape:
        raise ValueError("its elements do not move one by one")
    run = by_onnxruntime(model, step)
    tables = _tables(run, step, given, source, starts)
    operand, output = IntFormat.of(given[0].dtype), IntFormat.of(y.dtype)

    def apply(*arrays: Array) -> Array:
        flat = [
            table[x.reshape(-1).astype(int) - operand.min].astype(output.dtype)
            for table, x in zip(tables, arrays, strict=True)
        ]
        moved: Array = np.concatenate(flat)[source]
        return moved

    rng = np.random.default_rng(1)
    drawn = [rng.integers(operand.min, operand.max + 1, x.shape).astype(x.dtype) for x in given]
    if (apply(*drawn) != run(*drawn)).any():
        raise ValueError("its elements are not elements of its inputs")
    commands = [
        command
        for number, name in enumerate("ab"[: len(given)])
        for command in _commands(number, name, given[number].shape, source, int(starts[number]))
    ]
    return VectorWork(
        operations=tuple(VectorOperation.lookup(table, operand, output) for table in tables),
        commands=tuple(commands), apply=apply, operand=operand, output=output,
    )  # fmt: skip


def _numbered(node: NodeProto) -> NodeProto:
    """The node with float32 in the place of bytes."""
    from onnx import helper

    if node.op_type != "QLinearConcat":
        return node
    return helper.make_node("Concat", node.input[2::3], node.output, axis=attribute(node, "axis", 1))


def _tables(
    run: Callable[..., Array], step: VectorStep, given: list[Array], source: Array, starts: Array
) -> list[Array]:
    """The result of each code, for elements of each input."""
    info = np.iinfo(given[0].dtype)
    codes = np.arange(info.min, info.max + 1)
    if all(node.op_type != "QLinearConcat" for node in step.nodes):
        return [codes for _ in given]
    firsts = [
        np.flatnonzero((source.reshape(-1) >= low) & (source.reshape(-1) < high))[:1]
        for low, high in pairwise(starts.tolist())
    ]
    rows = []
    for code in codes:
        flat = run(*(np.full_like(x, code) for x in given)).reshape(-1)
        rows.append([int(flat[first[0]]) if len(first) else 0 for first in firsts])
    return list(np.array(rows).T)


def _commands(number: int, name: str, shape: tuple[int, ...], source: Array, start: int) -> list[VectorCommand]:
    """The commands for the elements of one input, in the order of Y, of its channels or of the input: the fewest."""
    size = int(np.prod(shape, dtype=int))
    x, y = places_of(shape).reshape(-1), places_of(source.shape)
    best: list[VectorCommand] | None = None
    for from_, to in _orders(source, y):
        inside = (from_ >= start) & (from_ < start + size)
        if not inside.any():
            return []
        found = [
            VectorCommand(
                operation=number, rows=rows, row_bytes=count, places=((name, *places[0]), ("y", *places[1])),
            )
            for rows, count, places in rectangles([x[from_[inside] - start], to[inside]])
        ]  # fmt: skip
        if best is None or len(found) < len(best):
            best = found
    return best or []


def _orders(source: Array, y: Array) -> Iterator[tuple[Array, Array]]:
    """Elements in several orders: numbers of where they come from, and places in Y."""
    yield source.reshape(-1), y.reshape(-1)
    yield np.moveaxis(source, -1, 0).reshape(-1), np.moveaxis(y, -1, 0).reshape(-1)
    order = np.argsort(source, axis=None, kind="stable")
    yield source.reshape(-1)[order], y.reshape(-1)[order]
