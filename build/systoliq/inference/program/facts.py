"""Facts of a program, ready for JSON: memory, steps in order, buffers, lists, and computations of the host."""

from __future__ import annotations

import dataclasses
from typing import Any

from systoliq.hw.dma.convolutions import Maps
from systoliq.hw.dma.row_operations import RowOperation
from systoliq.hw.dma.vector_commands import AnyOperation, ProductOperation

from ...design.engine.facts import config_facts
from ..steps import HostStep, label_of
from .product import OperationInMemory, Product
from .program import Program
from .vector import VectorInMemory

__all__ = ["IMAGE", "model_file", "program_facts"]

IMAGE = "program.bin"


def model_file(number: int) -> str:
    """The file of a host's step as a separate model."""
    return f"host_{number:02}.onnx"


def program_facts(program: Program) -> dict[str, Any]:
    """All of `program` but the image itself."""
    return {
        "name": program.name,
        "engine": config_facts(program.config) | {"bus_bits": 8 * program.bus_bytes},
        "memory": {
            "base": program.base,
            "size": program.size,
            "working": {"address": program.base, "size": program.working},
            "image": {"address": program.image_address, "size": len(program.image), "file": IMAGE},
        },
        "inputs": {name: {"type": kind, "shape": list(shape)} for name, (kind, shape) in program.inputs.items()},
        "outputs": list(program.outputs),
        "totals": program.totals(),
        "steps": [
            _host(number, step)
            if isinstance(step, HostStep)
            else _vector(step)
            if isinstance(step, VectorInMemory)
            else _product(step)
            for number, step in enumerate(program.steps, 1)
        ],
        "runs": [dataclasses.asdict(run) | {"steps": list(run.steps)} for run in program.runs],
        "products_of_the_host": {
            name: {"operator": operator, "reason": reason} for name, (operator, reason) in program.host.items()
        },
    }


def _host(number: int, step: HostStep) -> dict[str, Any]:
    return {
        "step": number,
        "by": "host",
        "model": model_file(number) if step.outputs else None,
        "takes": list(step.inputs),
        "gives": list(step.outputs),
        "nodes": [
            {"operator": node.op_type, "name": label_of(node), "gives": list(node.output)} for node in step.nodes
        ],
    }


def _vector(step: VectorInMemory) -> dict[str, Any]:
    work = step.sketch.work
    types = dict.fromkeys(step.operands, work.operand.dtype.name) | {"y": work.output.dtype.name}
    return {
        "step": step.number,
        "by": "vector unit",
        "name": step.name,
        "operator": step.operator,
        "takes": list(step.sketch.step.inputs),
        "gives": step.sketch.step.output,
        "sources": dict(step.sources),
        "shape": list(step.sketch.shapes["y"]),
        "types": types,
        **{name: buffer.facts() for name, buffer in step.operands.items()},
        "y": step.y.facts(),
        **({} if step.scratch is None else {"scratch": step.scratch.facts()}),
        "commands": len(work.commands),
        "operations": [
            _operation_of_unit(operation) | {"tables": [table.facts() for table in tables]}
            for operation, tables in zip(work.operations, step.tables, strict=True)
        ],
        "lists": [step.list.facts() | {"jobs": 0}],
        "bytes": step.bytes,
    }


def _operation_of_unit(operation: AnyOperation) -> dict[str, Any]:
    """Description of an operation of the vector unit."""
    if isinstance(operation, RowOperation):
        return {"rows": operation.node.kind}
    if isinstance(operation, ProductOperation):
        return {"product": operation.node.kind}
    return {"pair": operation.pair, "largest": operation.largest, "shift": operation.tables.shift}


def _product(product: Product) -> dict[str, Any]:
    node = product.sketch.step.node
    return {
        "step": product.number,
        "by": "engine",
        "name": product.name,
        "operator": product.operator,
        "takes": [name for name in node.input if name],
        "gives": node.output[0],
        "a_from": product.a_from,
        **({} if product.b_from is None else {"b_from": product.b_from}),
        "before": dict(product.sketch.before),
        "after": dict(product.sketch.after),
        "operations": [_operation(operation, product.sketch.known.b) for operation in product.operations],
        "patches": [
            {"zero_point_of": patch.operand, "flip": patch.flip, "addresses": list(patch.addresses)}
            for patch in product.patches
        ],
        "lists": [each.buffer.facts() | {"jobs": len(each.pieces)} for each in product.lists],
        "jobs": [
            {
                **{name: getattr(piece.job, name) for name in "mkn"},
                "rows": _ends(piece.rows),
                "columns": _ends(piece.columns),
                "batch": piece.batch,
                "addresses": {"a": place.a, "b": place.b, "y": place.y},
                "bytes": piece.bytes,
                **({} if piece.maps is None else {"windows": _windows(piece.maps[1])}),
            }
            for each in product.lists
            for piece, place in zip(each.pieces, each.places, strict=True)
        ],
        "bytes": product.bytes,
    }


def _windows(maps: Maps) -> dict[str, Any]:
    """The part of the image whose windows a job's rows of A are."""
    window = maps.windows.window
    names = ("kernel", "strides", "dilations", "pads")
    return {
        "images": maps.images,
        "size": list(maps.windows.image),
        "channels": maps.windows.channels,
        "fill": maps.fill,
        **{name: list(getattr(window, name)) for name in names},
    }


def _operation(operation: OperationInMemory, known: bool) -> dict[str, Any]:
    sketch = operation.sketch
    given = sketch.operation
    return {
        "m": sketch.y.count,
        "k": sketch.k,
        "n": sketch.n,
        "types": {"a": given.a.dtype.name, "b": given.b.dtype.name, "y": sketch.pieces[0].job.y_dtype.name},
        "result": list(sketch.result),
        "a": operation.a.facts() | {"holds": "pixels" if sketch.image else "rows"},
        "b": operation.b.facts()
        | {
            "by": "image" if known else "host",
            "layout": "rows" if sketch.tiles is None else "tiles",
            "tiles": [
                {"batch": tile.batch, "columns": _ends(tile.columns), "offset": tile.offset, "size": tile.size}
                for tile in sketch.tiles or ()
            ],
        },
        "y": operation.y.facts(),
    }


def _ends(part: slice) -> list[int]:
    return [part.start, part.stop]
