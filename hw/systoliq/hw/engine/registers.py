"""The register map of an engine of integers: the one description from which all else is made.

Hardware, documentation, C header and drivers. For float8, see `float8_registers`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

__all__ = ["COLUMN_TABLE", "ERRORS", "REGISTERS", "ROW_TABLE", "Field", "Register", "RegisterMap", "Table", "whole"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Field:
    """``bits`` bits of a register from bit ``lsb`` up."""

    name: str
    lsb: int
    bits: int
    doc: str
    signed: bool = False

    @property
    def mask(self) -> int:
        """The field's bits in the register."""
        return ((1 << self.bits) - 1) << self.lsb


@dataclasses.dataclass(frozen=True, kw_only=True)
class Register:
    """A 32-bit register. ``access``: "rw"; "ro" (writes are ignored); "wo" (acts when written, reads as 0)."""

    name: str
    offset: int
    access: str
    doc: str
    fields: tuple[Field, ...]

    def field(self, name: str) -> Field:
        """The field called ``name``."""
        return next(field for field in self.fields if field.name == name)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Table:
    """A memory of entries of ``stride`` bytes; the words of an entry are write-only, the last one commits the entry."""

    name: str
    base: int
    stride: int
    doc: str
    words: tuple[Register, ...]


def whole(name: str, doc: str, bits: int = 32, *, signed: bool = False) -> tuple[Field, ...]:
    """The fields of a register that has one, from bit 0 up."""
    return (Field(name=name, lsb=0, bits=bits, doc=doc, signed=signed),)


REGISTERS: tuple[Register, ...] = (
    Register(name="ID", offset=0x00, access="ro", doc="Identification: 0x5351, 'SQ'.", fields=whole("id", "0x5351")),
    Register(
        name="VERSION",
        offset=0x04,
        access="ro",
        doc="Version of this register map.",
        fields=(
            Field(name="minor", lsb=0, bits=16, doc="Counts compatible changes."),
            Field(name="major", lsb=16, bits=16, doc="Counts incompatible changes."),
        ),
    ),
    Register(
        name="ARRAY",
        offset=0x08,
        access="ro",
        doc="Size of the array, and its dataflow.",
        fields=(
            Field(name="rows", lsb=0, bits=9, doc="Rows."),
            Field(name="cols", lsb=9, bits=9, doc="Columns."),
            Field(name="depth", lsb=18, bits=9, doc="Multipliers per element."),
            Field(
                name="weight_stationary",
                lsb=27,
                bits=1,
                doc="Dataflow: 0 output-stationary, 1 weight-stationary. The layout of A and Y depends on it.",
            ),
        ),
    ),
    Register(
        name="LANES", offset=0x0C, access="ro", doc="Drain lanes.", fields=whole("lanes", "Results per beat of Y.", 9)
    ),
    Register(
        name="BUFFERS",
        offset=0x10,
        access="ro",
        doc="Sizes of buffers and tables, as base-2 logarithms.",
        fields=(
            Field(name="a_words_log2", lsb=0, bits=5, doc="Words in the buffer of A."),
            Field(name="b_words_log2", lsb=8, bits=5, doc="Words in the buffer of B."),
            Field(name="max_columns_log2", lsb=16, bits=5, doc="Maximum N of a job."),
            Field(name="max_rows_log2", lsb=24, bits=5, doc="Maximum M of a job with one zero point per row."),
        ),
    ),
    Register(
        name="CONTROL",
        offset=0x14,
        access="wo",
        doc="Commands.",
        fields=(
            Field(
                name="start",
                lsb=0,
                bits=1,
                doc="Queue the job described by the registers below. It runs when the previous jobs have left the "
                "array. If the engine is not busy, this also clears STATUS.done.",
            ),
            Field(
                name="clear",
                lsb=1,
                bits=1,
                doc="Cancel all jobs, empty the buffers and clear error, done and jobs. Registers and tables keep "
                "their contents. A beat of Y that is already offered stays valid, and an unfinished frame ends with "
                "one more beat, with tlast: keep the receiver of Y running until STATUS.busy is 0.",
            ),
            Field(name="acknowledge", lsb=2, bits=1, doc="Clear STATUS.done and the error QUEUE_FULL."),
        ),
    ),
    Register(
        name="STATUS",
        offset=0x18,
        access="ro",
        doc="State.",
        fields=(
            Field(
                name="busy",
                lsb=0,
                bits=1,
                doc="A job is queued or running, a failed job was not cleared, or a clear is in progress.",
            ),
            Field(name="done", lsb=1, bits=1, doc="A job ended without error, and its last result was taken."),
            Field(
                name="queued",
                lsb=2,
                bits=1,
                doc="A job waits for the previous one. Until it runs, the registers below cannot be written.",
            ),
            Field(
                name="error",
                lsb=8,
                bits=8,
                doc="Error code, or 0. QUEUE_FULL shows only if there is no other error. CONTROL.clear clears any "
                "error, CONTROL.acknowledge only QUEUE_FULL. The error of a job appears when all jobs before it have "
                "ended, so that `jobs` is the number of the failed job.",
            ),
            Field(
                name="jobs", lsb=16, bits=16, doc="Jobs that ended without error since the last clear, modulo 65536."
            ),
        ),
    ),
    Register(
        name="INTERRUPT",
        offset=0x1C,
        access="rw",
        doc="Conditions that raise the interrupt line.",
        fields=(
            Field(name="on_done", lsb=0, bits=1, doc="STATUS.done is 1."),
            Field(name="on_error", lsb=1, bits=1, doc="STATUS.error is not 0."),
        ),
    ),
    Register(
        name="M",
        offset=0x20,
        access="rw",
        doc="Rows of A and Y.",
        fields=(
            *whole("m", "1 to 65535.", 16),
            Field(name="first_entry", lsb=16, bits=16, doc="First entry of the job in the row table."),
        ),
    ),
    Register(name="K", offset=0x24, access="rw", doc="Columns of A.", fields=whole("k", "1 to 65535.", 16)),
    Register(
        name="N",
        offset=0x28,
        access="rw",
        doc="Columns of B and Y.",
        fields=(
            *whole("n", "1 to 65535.", 16),
            Field(name="first_entry", lsb=16, bits=16, doc="First entry of the job in the column table, per lane."),
        ),
    ),
    Register(
        name="FORMAT",
        offset=0x2C,
        access="rw",
        doc="Formats of the job.",
        fields=(
            Field(name="a_unsigned", lsb=0, bits=1, doc="A is uint8, not int8."),
            Field(name="b_unsigned", lsb=1, bits=1, doc="B is uint8, not int8."),
            Field(name="y_unsigned", lsb=2, bits=1, doc="Y is uint8, not int8."),
            Field(name="y_int32", lsb=3, bits=1, doc="Y is the int32 accumulator (MatMulInteger)."),
            Field(name="row_zero_points", lsb=4, bits=1, doc="The zero points of A are in the row table."),
        ),
    ),
    Register(
        name="ZERO_POINTS",
        offset=0x30,
        access="rw",
        doc="Zero points of whole tensors, minus 128 if the tensor is unsigned.",
        fields=(
            Field(name="a", lsb=0, bits=8, doc="Zero point of A.", signed=True),
            Field(name="y", lsb=8, bits=8, doc="Zero point of Y.", signed=True),
        ),
    ),
    Register(
        name="BUSY_CYCLES",
        offset=0x34,
        access="ro",
        doc="Cycles from the first beat of A or B to the last beat of Y, both included. Covers all jobs since the "
        "engine was last idle.",
        fields=whole("cycles", "Wraps at 2^32."),
    ),
    Register(
        name="INPUT_STALLS",
        offset=0x38,
        access="ro",
        doc="Cycles within BUSY_CYCLES in which the array waited for A or B.",
        fields=whole("cycles", "Wraps at 2^32."),
    ),
    Register(
        name="OUTPUT_STALLS",
        offset=0x3C,
        access="ro",
        doc="Cycles within BUSY_CYCLES in which a beat of Y waited for the receiver.",
        fields=whole("cycles", "Wraps at 2^32."),
    ),
)

COLUMN_TABLE = Table(
    name="COLUMN_TABLE",
    base=0x100000,
    stride=16,
    doc="Constants of column n of Y, in entry (N.first_entry + n // lanes) * lane_slots + n % lanes, where lane_slots "
    "is lanes rounded up to a power of two. Entry numbers wrap around at the end of the table. Entries may be written "
    "at any time, but those of a job must not change between its start and its end.",
    words=(
        Register(name="BIAS", offset=0x0, access="wo", doc="Added to the sum.", fields=whole("bias", "", signed=True)),
        Register(
            name="MULTIPLIER",
            offset=0x4,
            access="wo",
            doc="Mantissa of the scale.",
            fields=whole("multiplier", "", 24),
        ),
        Register(
            name="SHIFT",
            offset=0x8,
            access="wo",
            doc="y = acc * multiplier / 2^shift. The shift must be 14 to 63.",
            fields=whole("shift", "", 6),
        ),
        Register(
            name="ZERO_POINT",
            offset=0xC,
            access="wo",
            doc="Zero point of B, minus 128 if B is unsigned. Writing it commits the entry.",
            fields=whole("zero_point", "", 8, signed=True),
        ),
    ),
)

ROW_TABLE = Table(
    name="ROW_TABLE",
    base=0x80000,
    stride=4,
    doc="Zero point of row m of A, minus 128 if A is unsigned, in entry M.first_entry + m. Entry numbers wrap around "
    "at the end of the table. Entries may be written at any time, but those of a job must not change between its start "
    "and its end.",
    words=(
        Register(
            name="ZERO_POINT",
            offset=0x0,
            access="wo",
            doc="Writing it commits the entry.",
            fields=whole("zero_point", "", 8, signed=True),
        ),
    ),
)

ERRORS: dict[str, tuple[int, str]] = {
    "ILLEGAL_SHAPE": (1, "M, K and N must be at least 1."),
    "A_TOO_LARGE": (
        2,
        "If N > cols, A's buffer must hold a group of rows, ceil(K / depth) words (weight-stationary: all of A).",
    ),
    "B_TOO_LARGE": (
        3,
        "Output-stationary: if M > rows, B's buffer must hold all of B, ceil(K / depth) * ceil(N / cols) words.",
    ),
    "TOO_MANY_COLUMNS": (4, "N must not exceed the column table."),
    "TOO_MANY_ROWS": (
        5,
        "M must not exceed the row table if zero points are per row or the dataflow is weight-stationary.",
    ),
    "QUEUE_FULL": (6, "A job was started while STATUS.queued was 1, or with clear. Other jobs are not affected."),
    "A_ENDED_EARLY": (7, "The stream of A has tlast before its last word."),
    "A_ENDED_LATE": (8, "The last word of A has no tlast."),
    "B_ENDED_EARLY": (9, "The stream of B has tlast before its last word."),
    "B_ENDED_LATE": (10, "The last word of B has no tlast."),
}
"""Name -> (code in STATUS.error, meaning)."""

VERSION = (3, 0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class RegisterMap:
    """Registers, tables and errors of a kind of engine, and what ID and VERSION say of them; by default of integers.

    The registers follow each other from address 0, a power of two of them.
    """

    identification: int = 0x5351
    version: tuple[int, int] = VERSION
    registers: tuple[Register, ...] = REGISTERS
    column_table: Table = COLUMN_TABLE
    row_table: Table | None = ROW_TABLE
    errors: Mapping[str, tuple[int, str]] = dataclasses.field(default_factory=lambda: ERRORS)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables that are there."""
        return (self.column_table,) if self.row_table is None else (self.column_table, self.row_table)
