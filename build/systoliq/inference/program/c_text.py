"""C of a program: a header with its buffers, their tables, and an example that runs all steps."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator

from ..steps import HostStep
from .engine_words import engine_words
from .memory_map import Buffer
from .product import Product
from .program import Program
from .vector import VectorInMemory

__all__ = ["c_header", "c_tables"]

_PREFIX = "SYSTOLIQ_PROGRAM"
_PLAIN = string.ascii_letters + string.digits + " /_.:-"

_TYPES = """\
/* Rows of bytes in memory. */
typedef struct {
    uint32_t address, rows, row_bytes, stride;
} systoliq_matrix;

/* Columns of a batch of B as words of the engine: see systoliq_put_tile. */
typedef struct {
    uint32_t address, batch, column, columns;
} systoliq_tile;

/* A times B [batches, k, n]; the host fills A if a_filled is 1, and B if b_filled is 1: tile by tile, or row by
   row if tile_count is 0. */
typedef struct {
    uint32_t k, n, a_filled, b_filled, tile_count;
    systoliq_matrix a, b, y;
    const systoliq_tile *tiles;
} systoliq_operation;

/* A byte of a list that the host writes: the zero point of A ('a') or B ('b'), with the bits of flip inverted. */
typedef struct {
    uint32_t address;
    char operand;
    uint8_t flip;
} systoliq_patch;

typedef struct {
    uint32_t address, size, jobs;
} systoliq_list;

/* A product, or a step of the vector unit, which has one operation with rows of A, B and Y: fill operands; write the
   patches; play the lists one after the other; take Y. */
typedef struct {
    const char *name;
    uint32_t step, operation_count, patch_count, list_count;
    const systoliq_operation *operations;
    const systoliq_patch *patches;
    const systoliq_list *lists;
} systoliq_product;
"""


def c_header(program: Program) -> str:
    """Sizes and addresses as macros, including each buffer's, and the types of the tables."""
    config = program.config
    macros: list[tuple[str, int]] = [
        ("BASE", program.base),
        ("SIZE", program.size),
        ("WORKING_SIZE", program.working),
        ("IMAGE", program.image_address),
        ("IMAGE_SIZE", len(program.image)),
    ]
    numbers = [
        ("ROWS", config.rows), ("COLS", config.cols), ("DEPTH", config.depth), ("BUS_BYTES", program.bus_bytes),
        ("STEPS", len(program.steps)), ("PRODUCTS", len(program.of_engine)),
    ]  # fmt: skip
    lines = [
        f"/* Program of {_comment(program.name)} for a systoliq engine; made by `systoliq compile`, do not edit. */",
        f"#ifndef {_PREFIX}_H",
        f"#define {_PREFIX}_H",
        "",
        "#include <stdint.h>",
        "",
        "/* Memory; program.bin is loaded to IMAGE. */",
        *(f"#define {_PREFIX}_{name} 0x{value:08X}u" for name, value in macros),
        "",
        *(f"#define {_PREFIX}_{name} {value}u" for name, value in numbers),
        "",
        "/* Registers of the engine that the program was compiled for. */",
        *(f"#define {_PREFIX}_ENGINE_{name} 0x{value:08X}u" for name, value in engine_words(config).items()),
    ]
    for run in program.runs:
        first, last = run.steps[0], run.steps[-1]
        if first < last:
            name = f"{_PREFIX}_{first:02}_TO_{last:02}_LIST"
            lines += ["", f"/* Steps {first} to {last} by one list. */"]
            lines += [f"#define {name} 0x{run.address:08X}u", f"#define {name}_SIZE {run.size}u"]
    for step in program.vectors:
        lines += ["", f"/* Step {step.number}: {_comment(step.operator)} {_comment(step.name)} */"]
        for buffer in (*step.operands.values(), step.y, step.list):
            lines += _macros(f"{_PREFIX}_{step.number:02}_{buffer.role.upper()}", buffer)
    for product in program.products:
        lines += ["", f"/* Step {product.number}: {product.operator} {_comment(product.name)} */"]
        for place, operation in enumerate(product.operations):
            index = f"_{place}" if len(product.operations) > 1 else ""
            for buffer in (operation.a, operation.b, operation.y):
                lines += _macros(f"{_PREFIX}_{product.number:02}{index}_{buffer.role.upper()}", buffer)
        for place, each in enumerate(product.lists):
            index = f"_{place}" if len(product.lists) > 1 else ""
            lines += _macros(f"{_PREFIX}_{product.number:02}{index}_LIST", each.buffer)
    return "\n".join(
        [
            *lines,
            "",
            _TYPES,
            f"extern const systoliq_product systoliq_products[{_PREFIX}_PRODUCTS];",
            "",
            "/* Index of each step's product, or -1 for a step of the host. */",
            f"extern const int systoliq_steps[{_PREFIX}_STEPS];",
            "",
            f"#endif /* {_PREFIX}_H */",
            "",
        ]
    )


def _macros(name: str, buffer: Buffer) -> list[str]:
    return [f"#define {name} 0x{buffer.address:08X}u", f"#define {name}_SIZE {buffer.size}u"]


def c_tables(program: Program) -> str:
    """The tables that the header declares."""
    lines = [
        "/* Tables of systoliq_program.h; made by `systoliq compile`, do not edit. */",
        '#include "systoliq_program.h"',
        "",
    ]
    for step in program.of_engine:
        lines += _arrays_of_vector(step) if isinstance(step, VectorInMemory) else _arrays(step)
    lines.append(f"const systoliq_product systoliq_products[{_PREFIX}_PRODUCTS] = {{")
    for step in program.of_engine:
        number, product = step.number, step if isinstance(step, Product) else None
        patches = sum(len(patch.addresses) for patch in product.patches) if product else 0
        counts = f"{number}, {len(product.operations) if product else 1}, {patches}"
        tables = f"operations_{number}, {f'patches_{number}' if patches else '0'}, lists_{number}"
        lines.append(f"    {{{_string(step.name)}, {counts}, {len(step.parts)}, {tables}}},")
    places = iter(range(len(program.of_engine)))
    steps = ", ".join("-1" if isinstance(step, HostStep) else str(next(places)) for step in program.steps)
    return "\n".join([*lines, "};", "", f"const int systoliq_steps[{_PREFIX}_STEPS] = {{{steps}}};", ""])


def _arrays(product: Product) -> Iterator[str]:
    number = product.number
    for place, operation in enumerate(product.operations):
        if tiles := operation.sketch.tiles if product.fills_b else None:
            yield f"static const systoliq_tile tiles_{number}_{place}[] = {{"
            for tile in tiles:
                columns = tile.columns.stop - tile.columns.start
                at = operation.b.address + tile.offset
                yield f"    {{0x{at:08X}u, {tile.batch}, {tile.columns.start}, {columns}}},"
            yield "};"
    yield f"static const systoliq_operation operations_{number}[] = {{"
    for place, operation in enumerate(product.operations):
        computed = product.fills_b
        tiles = (operation.sketch.tiles if computed else None) or ()
        table = f"tiles_{number}_{place}" if tiles else "0"
        matrices = ", ".join(_matrix(buffer) for buffer in (operation.a, operation.b, operation.y))
        sizes = f"{operation.sketch.k}, {operation.sketch.n}, {int(product.fills_a)}, {int(computed)}"
        yield f"    {{{sizes}, {len(tiles)}, {matrices}, {table}}},"
    yield "};"
    if product.patches:
        yield f"static const systoliq_patch patches_{number}[] = {{"
        for patch in product.patches:
            yield from (f"    {{0x{at:08X}u, '{patch.operand}', 0x{patch.flip:02X}}}," for at in patch.addresses)
        yield "};"
    yield f"static const systoliq_list lists_{number}[] = {{"
    for each in product.lists:
        yield f"    {{0x{each.buffer.address:08X}u, {len(each.data)}, {len(each.pieces)}}},"
    yield "};"
    yield ""


def _arrays_of_vector(step: VectorInMemory) -> Iterator[str]:
    """A step of the vector unit is an operation without tiles, whose k is 1; without B, all of B is 0."""
    number = step.number
    filled = [int(name in step.filled) for name in "ab"]
    b = step.operands.get("b")
    matrices = (_matrix(step.operands["a"]), "{0, 0, 0, 0}" if b is None else _matrix(b), _matrix(step.y))
    sizes = f"1, {step.y.row_bytes}, {filled[0]}, {filled[1]}, 0"
    yield f"static const systoliq_operation operations_{number}[] = {{"
    yield f"    {{{sizes}, {', '.join(matrices)}, 0}},"
    yield "};"
    yield f"static const systoliq_list lists_{number}[] = {{"
    yield f"    {{0x{step.list.address:08X}u, {len(step.data)}, 0}},"
    yield "};"
    yield ""


def _matrix(buffer: Buffer) -> str:
    return f"{{0x{buffer.address:08X}u, {buffer.rows}, {buffer.row_bytes}, {buffer.stride}}}"


def _comment(text: str) -> str:
    """`text`, changed so that it does not end a comment."""
    return re.sub(r"[^\x20-\x7e]", "?", text).replace("*/", "* /").replace("/*", "/ *").replace("\\", "/")


def _string(text: str) -> str:
    """`text` as a C string: special characters are octal."""
    return '"' + "".join(chr(byte) if chr(byte) in _PLAIN else f"\\{byte:03o}" for byte in text.encode()) + '"'
