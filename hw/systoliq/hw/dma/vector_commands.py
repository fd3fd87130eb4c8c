"""Commands of the vector unit in a list: operations on bytes by tables, and where their tensors lie in memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden import network
from systoliq.golden.formats import IntFormat, signed_bits
from systoliq.golden.network.sum_tables import SumTables

from .commands import CommandList, check_addresses, check_range, check_strides, dma_register, wait_for_masters
from .registers import BASE, VECTOR_REGISTERS
from .row_operations import RowOperation
from .vector_lane import ENTRY_BITS, LARGEST_SHIFT
from .vector_product import CONSTANTS, MULTIPLIER_BITS, PRODUCT_SHIFT_BITS

__all__ = [
    "LARGEST_ROW",
    "LARGEST_ROWS",
    "AnyOperation",
    "ProductOperation",
    "VectorOperation",
    "VectorPlacement",
    "vector_commands",
]

Array = npt.NDArray[Any]
LARGEST_ROWS = (1 << 16) - 1
"""Rows of a command."""
LARGEST_ROW = 1 << 24
"""Bytes of a row."""
(_VECTOR,) = VECTOR_REGISTERS


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class VectorOperation:
    """Y of A, or with `pair` of A and B, all tensors of bytes of one shape: see `SumTables.apply`.

    With `largest`, Y is of the larger entry of a pair, not of the sum, and there is no shift. A and B have the format
    `operand`. Raises ValueError for tables that do not fit the unit.
    """

    tables: SumTables
    operand: IntFormat
    pair: bool
    largest: bool = False

    def __post_init__(self) -> None:
        for form in (self.operand, self.tables.output):
            if form.bits != 8:
                raise ValueError(f"tensors of the vector unit must be int8 or uint8, not {form}")
        bits = signed_bits(*self.tables.a, *self.tables.b)
        if bits > ENTRY_BITS:
            raise ValueError(f"entries of tables must have at most {ENTRY_BITS} bits for the vector unit, not {bits}")
        if self.tables.shift > LARGEST_SHIFT:
            raise ValueError(f"shift must be at most {LARGEST_SHIFT} for the vector unit, not {self.tables.shift}")
        if self.largest and not self.pair:
            raise ValueError("pair must be True for the larger of two entries, not False")
        if self.largest and self.tables.shift:
            raise ValueError(f"shift must be 0 for the larger of two entries, not {self.tables.shift}")

    @classmethod
    def lookup(cls, entries: npt.ArrayLike, operand: IntFormat, output: IntFormat) -> VectorOperation:
        """256 `entries` of `output` by the codes of `operand`, the least first."""
        given = tuple(int(entry) for entry in np.asarray(entries))
        return cls(tables=SumTables(a=given, b=(0,) * 256, shift=0, output=output), operand=operand, pair=False)

    @classmethod
    def larger(cls, form: IntFormat) -> VectorOperation:
        """The larger of A and B, all of `form`."""
        codes = tuple(range(form.min, form.max + 1))
        return cls(tables=SumTables(a=codes, b=codes, shift=0, output=form), operand=form, pair=True, largest=True)

    @property
    def output(self) -> IntFormat:
        """The format of Y."""
        return self.tables.output

    @property
    def fields(self) -> dict[str, int]:
        """The fields of the register VECTOR that say what Y is of A and B."""
        return {"pair": int(self.pair), "largest": int(self.largest), "shift": self.tables.shift}

    @property
    def memory(self) -> tuple[bytes, ...]:
        """The table of A, and with `pair` the table of B, as stored in memory: 256 words, by the bits of a byte."""
        order = np.arange(256) ^ (0x80 if self.operand.signed else 0)  # the code of a byte, counted from the least
        entries = (self.tables.a, self.tables.b)[: 1 + self.pair]
        return tuple(np.array(table, "<i4")[order].tobytes() for table in entries)

    def apply(self, a: Array, b: Array | None = None) -> Array:
        """Y of the tensors `a` and `b`."""
        codes = [x.astype(np.int64) - self.operand.min for x in (a, b) if x is not None]
        if self.largest:
            tables = self.tables
            larger = np.maximum(np.array(tables.a)[codes[0]], np.array(tables.b)[codes[1]])
            clipped: Array = np.clip(larger, tables.output.min, tables.output.max).astype(tables.output.dtype)
            return clipped
        return self.tables.apply(codes[0], codes[1] if self.pair else np.zeros_like(codes[0]))


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class ProductOperation:
    """The product of two tensors of bytes of one shape, element by element, as golden's `node` computes it.

    Raises ValueError for scales whose constants do not fit the unit.
    """

    node: network.Multiplication
    pair = True

    def __post_init__(self) -> None:
        for x in (*self.node.inputs, self.node.output):
            if x.format.bits != 8:
                raise ValueError(f"tensors of the vector unit must be int8 or uint8, not {x.format}")
        steps = self.node.steps
        if steps.multiplier >> MULTIPLIER_BITS or steps.shift >> PRODUCT_SHIFT_BITS:
            raise ValueError(
                f"the product's scale must be a number of {MULTIPLIER_BITS} bits over a power of two of at most "
                f"2**{(1 << PRODUCT_SHIFT_BITS) - 1} for the vector unit, not {steps.multiplier} / 2**{steps.shift}"
            )

    @property
    def operand(self) -> IntFormat:
        """The format of A and B."""
        return self.node.inputs[0].format

    @property
    def output(self) -> IntFormat:
        """The format of Y."""
        return self.node.output.format

    @property
    def fields(self) -> dict[str, int]:
        """The fields of the register VECTOR that say what Y is of A and B."""
        return {"pair": 1, "product": 1}

    @cached_property
    def memory(self) -> tuple[bytes, ...]:
        """The thresholds, and the constants, as stored in memory."""
        steps, (a, b) = self.node.steps, (x.zero_point - x.format.min for x in self.node.inputs)
        values = {
            "a_point": a,
            "b_point": b,
            "y_point": steps.zero_point - self.output.min,
            "signed": int(self.operand.signed),
            "shift": steps.shift,
            "multiplier": steps.multiplier,
        }
        words = [layout.const({name: values[name] for name in layout.members}).as_value().value for layout in CONSTANTS]
        tables = ([*steps.thresholds, 0], [*words, *[0] * (256 - len(words))])
        return tuple(np.array(table, "<i4").tobytes() for table in tables)

    def apply(self, a: Array, b: Array) -> Array:
        """Y of the tensors `a` and `b`."""
        return self.node.apply(a, b)


AnyOperation = VectorOperation | ProductOperation | RowOperation


@dataclasses.dataclass(frozen=True, kw_only=True)
class VectorPlacement:
    """Addresses of the tensors and tables of an operation, and strides from one row to the next, all in bytes.

    Each tensor has `rows` rows of `row_bytes` bytes. `b` and `b_table` count for an operation on a pair only.
    Addresses have 32 bits; strides have, too, or are negative. Raises ValueError otherwise.
    """

    rows: int
    row_bytes: int
    a: int
    a_stride: int
    y: int
    y_stride: int
    a_table: int
    b: int = 0
    b_stride: int = 0
    b_table: int = 0

    def __post_init__(self) -> None:
        check_range(self, ("rows",), 1, LARGEST_ROWS)
        check_range(self, ("row_bytes",), 1, LARGEST_ROW)
        check_addresses(self, "a", "b", "y", "a_table", "b_table")
        check_strides(self, "a_stride", "b_stride", "y_stride")


def vector_commands(operations: Iterable[tuple[AnyOperation, VectorPlacement]]) -> CommandList:
    """The list that runs `operations` in order, from masters that are at rest; at its end, all results are in memory.

    Tables that the operation before has left in the unit are not read again.
    """
    commands = CommandList()
    held: object = None
    held_by_rows: object = None
    for operation, place in operations:
        if isinstance(operation, RowOperation):
            loads = operation.loads and held_by_rows != operation.memory
            _rows(commands, operation, place, loads=loads)
            held_by_rows = operation.memory if operation.loads else held_by_rows
            continue
        operands = "ab" if operation.pair else "a"
        tables = operation.memory
        if held != tables:
            wait_for_masters(commands, "y_busy")
            for name in operands:
                _write(commands, f"{name.upper()}_ADDRESS", getattr(place, f"{name}_table"))
            _start(commands, load=1, pair=operation.pair)
            held = tables
        wait_for_masters(commands, "y_busy")
        _write(commands, "A_ROWS", place.rows)
        _write(commands, "A_LAST_EXTENT", place.row_bytes - 1)
        for name in (*operands, "y"):
            address, stride = getattr(place, name), getattr(place, f"{name}_stride")
            _write(commands, f"{name.upper()}_ADDRESS", address, stride % (1 << 32))
        _start(commands, unsigned=not operation.output.signed, **operation.fields)
    wait_for_masters(commands, "y_busy")
    return commands


def _rows(commands: CommandList, operation: RowOperation, place: VectorPlacement, *, loads: bool) -> None:
    """The commands of an operation on rows, whose table or records are at the operation's place of A's."""
    if place.row_bytes != operation.length:
        raise ValueError(f"row_bytes must be the {operation.length} elements of a row, not {place.row_bytes}")
    first = BASE + operation.registers[0].offset
    if loads:
        wait_for_masters(commands, "y_busy")
        _write(commands, "B_ADDRESS", place.a_table)
        commands.write(first, operation.words(load=True))
    wait_for_masters(commands, "y_busy")
    if not operation.loads:
        _write(commands, "B_ADDRESS", place.a_table)
    _write(commands, "A_ROWS", place.rows)
    _write(commands, "A_LAST_EXTENT", place.row_bytes - 1)
    for name in "ay":
        _write(commands, f"{name.upper()}_ADDRESS", getattr(place, name), getattr(place, f"{name}_stride") % (1 << 32))
    commands.write(first, operation.words())


def _write(commands: CommandList, name: str, *words: int) -> None:
    commands.write(BASE + dma_register(name).offset, words)


def _start(commands: CommandList, **fields: int) -> None:
    """Start a command of the unit with these fields of the register VECTOR."""
    word = sum(int(value) << _VECTOR.field(name).lsb for name, value in fields.items())
    commands.write(BASE + _VECTOR.offset, [word])
