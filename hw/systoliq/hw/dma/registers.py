"""The registers of the masters: lists of commands, the walks of A, B and Y, and their status."""

from __future__ import annotations

from amaranth.lib import data

from ..engine.registers import Field, Register, whole
from .list_player import ADDRESS_BITS

__all__ = [
    "BASE",
    "DMA_REGISTERS",
    "HALT_BIT",
    "LIST_ENDS",
    "MAP_REGISTERS",
    "NORMALIZATION_REGISTERS",
    "OPERANDS",
    "ROW_REGISTERS",
    "SOFTMAX_REGISTER",
    "VECTOR_REGISTERS",
    "WALK_REGISTERS",
    "WALK_WORDS",
    "command_layout",
    "dma_registers",
]

BASE = 1 << (ADDRESS_BITS - 1)
"""Address of the first register; the engine's own registers are at lower addresses."""
OPERANDS = ("a", "b", "y")
HALT_BIT = 0
LIST_ENDS = {"LIST_ADDRESS": 0, "LIST_EXTENT": 3}
"""Required value of the lowest two bits of a list's registers: a list consists of whole words."""
WALK_WORDS = (
    ("ADDRESS", "address", 32, "Address of the matrix's first byte."),
    ("ROW_STRIDE", "row_stride", 32, "Bytes from one row to the next, modulo 2**32."),
    ("STEP_STRIDE", "step_stride", 32, "Bytes from one step to the next, modulo 2**32."),
    ("ROWS", "rows", 16, "Number of rows; 0 is refused."),
    ("STEPS", "steps", 16, "Number of steps; 0 is refused."),
    ("EXTENT", "extent", 24, "Bytes of a row in one step, minus one."),
    ("LAST_EXTENT", "last_extent", 24, "Bytes of a row in the last step, minus one."),
)
"""Register, field of `WalkSettings`, bits, description."""


def _flags(doc: str) -> tuple[Field, ...]:
    return tuple(Field(name=name, lsb=i, bits=1, doc=doc.format(name.upper())) for i, name in enumerate(OPERANDS))


def _walk(operand: str, offset: int) -> list[Register]:
    """The settings of an operand's walk."""
    return [
        Register(
            name=f"{operand.upper()}_{name}",
            offset=offset + 4 * index,
            access="wo",
            doc=f"Walk of {operand.upper()}: {doc[0].lower()}{doc[1:]}",
            fields=whole(field, doc, bits),
        )
        for index, (name, field, bits, doc) in enumerate(WALK_WORDS)
    ]


WALK_REGISTERS = (*_walk("a", 0x20), *_walk("b", 0x40), *_walk("y", 0x60))
"""Write-only: reading them back would take as much logic as the walks themselves."""


def _pair(first: str, second: str, bits: int, doc: str, lsb: int = 0) -> tuple[Field, ...]:
    """Two fields of `bits` bits, one above the other; {} in `doc` is replaced by the direction of each."""
    return tuple(
        Field(name=name, lsb=lsb + index * bits, bits=bits, doc=doc.format(axis))
        for index, (name, axis) in enumerate([(first, "a line"), (second, "a column")])
    )


_MAP_WORDS: tuple[tuple[str, str, tuple[Field, ...]], ...] = (
    (
        "LINE_STRIDE",
        "from one line of windows to the next.",
        whole("line_stride", "Bytes from the last window of a line to the first of the next, modulo 2**32."),
    ),
    (
        "IMAGE_STRIDE",
        "from one image to the next.",
        whole("image_stride", "Bytes from the last window of an image to the first of the next, modulo 2**32."),
    ),
    (
        "TAP_STRIDE",
        "from one tap to the next.",
        whole("tap_stride", "Bytes from the last step of a tap to the first of the next in its line, modulo 2**32."),
    ),
    (
        "TAP_LINE_STRIDE",
        "from one line of taps to the next.",
        whole("tap_line_stride", "Bytes from the last step of a line of taps to the first of the next, modulo 2**32."),
    ),
    (
        "OUT_SIZE",
        "number of windows of an image; 0 is refused.",
        _pair("out_width", "out_height", 16, "Windows along {}."),
    ),
    ("MAP_SIZE", "size of an image.", _pair("width", "height", 16, "Pixels along {}.")),
    (
        "ORIGIN",
        "position of the first tap of the first window.",
        _pair("origin_x", "origin_y", 16, "Pixel along {}, modulo 2**16; negative in the padding."),
    ),
    (
        "TAPS",
        "number of taps of a window (0 is refused), and the value of pixels outside the image.",
        (
            *_pair("taps_x", "taps_y", 8, "Taps along {}."),
            Field(name="fill", lsb=16, bits=8, doc="Each byte of a pixel outside the image: the zero point of A."),
        ),
    ),
    (
        "PIXELS",
        "strides and dilations.",
        (
            *_pair("stride_x", "stride_y", 8, "Pixels from one window to the next along {}."),
            *_pair("dilation_x", "dilation_y", 8, "Pixels from one tap to the next along {}.", lsb=16),
        ),
    ),
)
MAP_REGISTERS = tuple(
    Register(
        name=f"A_{name}",
        offset=0x80 + 4 * index,
        access="wo",
        doc=f"Map of A: {doc[0].lower()}{doc[1:]}",
        fields=fields,
    )
    for index, (name, doc, fields) in enumerate(_MAP_WORDS)
)
"""Offsets of the fields of `MapSettings`, next to the settings of A's walk."""
DMA_REGISTERS: tuple[Register, ...] = (
    Register(
        name="LIST_ADDRESS",
        offset=0x00,
        access="rw",
        doc="Address of the list of commands. An address that is not a multiple of 4 is refused.",
        fields=whole("address", "Address of the first byte."),
    ),
    Register(
        name="LIST_EXTENT",
        offset=0x04,
        access="rw",
        doc="Length of the list. A length that is not a multiple of 4 is refused.",
        fields=whole("extent", "Bytes of the list, a multiple of 4, minus one.", 24),
    ),
    Register(
        name="LIST_CONTROL",
        offset=0x08,
        access="wo",
        doc="Commands.",
        fields=(
            Field(name="play", lsb=0, bits=1, doc="Start the list, and clear DMA_STATUS.done."),
            Field(name="acknowledge", lsb=1, bits=1, doc="Clear DMA_STATUS.done."),
        ),
    ),
    Register(
        name="DMA_STATUS",
        offset=0x0C,
        access="ro",
        doc="State.",
        fields=(
            Field(name="playing", lsb=0, bits=1, doc="A list is running."),
            Field(name="done", lsb=1, bits=1, doc="The list has ended."),
            Field(name="a_queued", lsb=2, bits=1, doc="The walk of A is queued: do not change its settings."),
            Field(name="b_queued", lsb=3, bits=1, doc="The walk of B is queued: do not change its settings."),
            Field(name="y_queued", lsb=4, bits=1, doc="The walk of Y is queued: do not change its settings."),
            Field(name="y_busy", lsb=5, bits=1, doc="Results of a queued walk are not all in memory yet."),
            Field(name="resting", lsb=6, bits=1, doc="HALT is 1, and no transfer is in progress."),
            Field(name="list_error", lsb=8, bits=3, doc="Why the list was aborted: see the table of errors."),
            Field(name="a_failed", lsb=11, bits=1, doc="Memory returned an error for a read of A."),
            Field(name="b_failed", lsb=12, bits=1, doc="Memory returned an error for a read of B."),
            Field(name="y_failed", lsb=13, bits=1, doc="Memory returned an error for a write of Y."),
            Field(name="list_failed", lsb=14, bits=1, doc="Memory returned an error for a read of the list."),
            Field(name="words", lsb=16, bits=16, doc="Number of words of the list that were read."),
        ),
    ),
    Register(
        name="QUEUE",
        offset=0x10,
        access="wo",
        doc="Queue walks with the settings below. Each walk begins after the previous one has begun.",
        fields=(
            *_flags("Queue the walk of {}."),
            Field(name="map", lsb=3, bits=1, doc="The walk of A covers a map: its rows are windows."),
        ),
    ),
    Register(
        name="HALT",
        offset=0x14,
        access="rw",
        doc="Recovery. 1 stops the masters and the list and drops results; when DMA_STATUS.resting is 1, all state "
        "except the settings is cleared. Clear the engine meanwhile. 0 resumes.",
        fields=whole("halt", "Stop.", 1),
    ),
    Register(
        name="DMA_INTERRUPT",
        offset=0x18,
        access="rw",
        doc="Conditions that raise irq, in addition to those of the engine.",
        fields=(
            Field(name="on_done", lsb=0, bits=1, doc="DMA_STATUS.done is 1."),
            Field(name="on_error", lsb=1, bits=1, doc="DMA_STATUS.list_error is not 0, or a failed bit is 1."),
        ),
    ),
    *WALK_REGISTERS,
    *MAP_REGISTERS,
)
VECTOR_REGISTERS = (
    Register(
        name="VECTOR",
        offset=0xA4,
        access="wo",
        doc="With a vector unit only: start a command of the unit. All walks have A_ROWS rows and one step of "
        "A_LAST_EXTENT; their addresses and row strides are their own. Refused while DMA_STATUS shows a queued walk or "
        "y_busy, and while A or B is read; a write of QUEUE is refused while the command runs.",
        fields=(
            Field(name="load", lsb=0, bits=1, doc="1 reads tables of 1024 bytes; 0 computes Y."),
            Field(name="pair", lsb=1, bits=1, doc="A and B are read; otherwise A alone."),
            Field(name="unsigned", lsb=2, bits=1, doc="Y is uint8; otherwise int8."),
            Field(name="largest", lsb=3, bits=1, doc="Y is of the larger of two entries; otherwise of their sum."),
            Field(
                name="product", lsb=4, bits=1, doc="Y is of the product of A and B, with the constants in the tables."
            ),
            Field(name="shift", lsb=8, bits=4, doc="The result is divided by 2**shift, halves rounded to even."),
        ),
    ),
)
"""Registers of the masters of an engine with a vector unit, in addition to `DMA_REGISTERS`."""
SOFTMAX_REGISTER = Register(
    name="SOFTMAX",
    offset=0xA8,
    access="wo",
    doc="With a unit for rows only: start a softmax of the A_ROWS rows of A, each of A_LAST_EXTENT + 1 bytes. "
    "Refused as VECTOR is, and if the rows are longer than the engine's row_length.",
    fields=(
        Field(name="load", lsb=0, bits=1, doc="1 reads the table, of 4096 bytes at B_ADDRESS; 0 computes Y."),
        Field(name="unsigned", lsb=1, bits=1, doc="A and Y are uint8; otherwise int8."),
        Field(name="quotient_bits", lsb=8, bits=5, doc="Bits of the number of levels of Y."),
        Field(name="zero_point", lsb=16, bits=8, doc="Zero point of Y."),
        Field(name="exponent", lsb=24, bits=8, doc="Exponent of the greatest exponential."),
    ),
)
NORMALIZATION_REGISTERS = (
    Register(
        name="NORM_EPSILON",
        offset=0xAC,
        access="wo",
        doc="With a unit for rows only: what is added to the variance.",
        fields=whole("epsilon", "Lowest bits of epsilon, in units of the variance times 4**half."),
    ),
    Register(
        name="NORM_SCALE",
        offset=0xB0,
        access="wo",
        doc="With a unit for rows only: scale of the variance.",
        fields=(
            Field(name="more_epsilon", lsb=0, bits=20, doc="Highest bits of epsilon."),
            Field(name="half", lsb=24, bits=5, doc="The variance is multiplied by 4**half."),
        ),
    ),
    Register(
        name="NORMALIZATION",
        offset=0xB4,
        access="wo",
        doc="With a unit for rows only: start a layer normalization of the A_ROWS rows of A, each of A_LAST_EXTENT + 1 "
        "bytes, with 16 bytes for each of them at B_ADDRESS. Refused as SOFTMAX is.",
        fields=(
            Field(name="unsigned", lsb=0, bits=1, doc="A is uint8; otherwise int8."),
            Field(name="unsigned_y", lsb=1, bits=1, doc="Y is uint8; otherwise int8."),
            Field(name="divide", lsb=8, bits=7, doc="Bits of the dividend of the inverse root."),
            Field(name="places", lsb=16, bits=5, doc="Zeros behind the inverse root."),
            Field(name="zero_point", lsb=24, bits=8, doc="Zero point of Y."),
        ),
    ),
)
ROW_REGISTERS = (SOFTMAX_REGISTER, *NORMALIZATION_REGISTERS)
"""Registers of the masters of an engine with a unit for rows, in addition to `VECTOR_REGISTERS`."""


def command_layout(*registers: Register) -> data.StructLayout:
    """Return a command whose fields are in these ``registers``."""
    return data.StructLayout({field.name: field.bits for register in registers for field in register.fields})


def dma_registers(*, vector: bool, rows: bool = False) -> tuple[Register, ...]:
    """The registers of the masters of an engine, with a `vector` unit and a unit for `rows`, or without."""
    return (*DMA_REGISTERS, *(VECTOR_REGISTERS if vector else ()), *(ROW_REGISTERS if rows else ()))
