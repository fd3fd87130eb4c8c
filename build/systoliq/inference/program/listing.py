"""Listing of a program for readers: memory, then the work of host and engine in each step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from ..steps import HostStep
from .facts import IMAGE, model_file
from .memory_map import Buffer
from .product import Product
from .program import Program
from .vector import VectorInMemory

__all__ = ["listing"]


def listing(program: Program) -> str:
    """The program as text."""
    return "\n".join([*_head(program), *_runs(program), *_steps(program), ""])


def _head(program: Program) -> Iterator[str]:
    config, totals = program.config, program.totals()
    size = " x ".join(str(each) for each in (config.rows, config.cols, config.depth))
    yield f"{program.name} on an engine of {size}, bus of {8 * program.bus_bytes} bits; made by systoliq compile"
    yield ""
    yield f"memory   0x{program.base:08x}  {program.size:>10} bytes"
    yield f"working  0x{program.base:08x}  {program.working:>10} bytes  operands and results of the steps"
    image = f"{IMAGE}: weights and lists, loaded once"
    yield f"image    0x{program.image_address:08x}  {len(program.image):>10} bytes  {image}"
    yield ""
    unit = f", {totals['vector_steps']} steps of the vector unit" if "vector_steps" in totals else ""
    yield f"{totals['products']} products on the engine in {totals['jobs']} jobs{unit}; {_bytes(totals['bytes'])}"
    for name, (operator, reason) in program.host.items():
        yield f"host: {operator} {name!r}: {reason}"


def _runs(program: Program) -> Iterator[str]:
    for run in program.runs:
        if len(run.steps) > 1:
            yield f"one list for steps {run.steps[0]} to {run.steps[-1]}: 0x{run.address:08x}  {run.size} bytes"


def _steps(program: Program) -> Iterator[str]:
    for number, step in enumerate(program.steps, 1):
        yield ""
        if isinstance(step, HostStep):
            yield from _host(number, step)
        elif isinstance(step, VectorInMemory):
            yield from _vector(step)
        else:
            yield from _product(step)


def _host(number: int, step: HostStep) -> Iterator[str]:
    counts = Counter(node.op_type for node in step.nodes)
    nodes = ", ".join(name if count == 1 else f"{count} {name}" for name, count in counts.items())
    yield f"step {number}: host: {model_file(number) if step.outputs else 'no outputs that other steps need'}: {nodes}"
    yield f"  inputs: {', '.join(step.inputs) or 'none'}"
    yield f"  outputs: {', '.join(step.outputs) or 'none'}"


def _vector(step: VectorInMemory) -> Iterator[str]:
    yield f"step {step.number}: vector unit: {step.operator} {step.name!r}; output {step.sketch.step.output}"
    for operand, name in zip(step.operands, step.sketch.step.inputs, strict=True):
        source = step.sources.get(operand)
        given = f"rows of {name}" if operand in step.filled else f"the constant {name}"
        yield f"  {operand}: " + (given if source is None else f"Y of {source!r}, in place")
    for buffer in (*step.operands.values(), step.y):
        yield f"    {_place(buffer)}"
    if step.scratch is not None:
        yield f"    {_place(step.scratch)}"
    for table in dict.fromkeys(table for each in step.tables for table in each):
        yield f"  table 0x{table.address:08x}  {table.size} bytes, in the image"
    yield f"  play {_place(step.list)}"
    yield f"  {_bytes(step.bytes)}"


def _product(product: Product) -> Iterator[str]:
    node = product.sketch.step.node
    gives = f"jobs: {product.jobs}; output {node.output[0]}"
    yield f"step {product.number}: engine: {product.operator} {product.name!r}; {gives}"
    for name, text in product.sketch.before.items():
        filled = name != "b" or product.fills_b
        if not filled or (name == "a" and product.a_from is not None):
            continue
        yield f"  {name}: {text}"
    if product.a_from is not None:
        yield f"  a: Y of {product.a_from!r}, in place"
    if product.b_from is not None:
        yield f"  b: Y of {product.b_from!r}, in place"
    for operation in product.operations:
        sketch = operation.sketch
        yield f"  {sketch.y.count} x {sketch.k} x {sketch.n}"
        for buffer in (operation.a, operation.b, operation.y):
            yield f"    {_place(buffer)}"
    for patch in product.patches:
        flipped = f" xor 0x{patch.flip:02x}" if patch.flip else ""
        at = _addresses(patch.addresses)
        yield f"  the zero point of {patch.operand.upper()}, a byte{flipped}, into the list at {at}"
    for each in product.lists:
        yield f"  play {_place(each.buffer)}, jobs: {len(each.pieces)}"
    for name, text in product.sketch.after.items():
        yield f"  {name}: {text}"
    yield f"  {_bytes(product.bytes)}"


def _bytes(count: Mapping[str, int]) -> str:
    engine = f"{count['a']} of A, {count['b']} of B, {count['list']} of lists, writes {count['y']} of Y"
    return f"bytes: the engine reads {engine}; the host fills {count['host']}"


def _place(buffer: Buffer) -> str:
    rows = f", {buffer.rows} rows of {buffer.row_bytes}, {buffer.stride} apart" if buffer.rows > 1 else ""
    return f"{buffer.role:<4} 0x{buffer.address:08x}  {buffer.size} bytes{rows}{', in the image' * buffer.kept}"


def _addresses(addresses: tuple[int, ...]) -> str:
    shown = ", ".join(f"0x{address:08x}" for address in addresses[:4])
    return shown if len(addresses) <= 4 else f"{shown} and {len(addresses) - 4} more"
