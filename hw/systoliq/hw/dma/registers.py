"""The registers of the masters: lists of commands, the walks of A, B and Y, and what became of them."""

from __future__ import annotations

from ..engine.registers import Field, Register, whole
from .list_player import ADDRESS_BITS

__all__ = ["BASE", "DMA_REGISTERS", "HALT_BIT", "OPERANDS", "WALK_REGISTERS", "WALK_WORDS"]

BASE = 1 << (ADDRESS_BITS - 1)
"""Address of the first one; the engine's own registers are below."""
OPERANDS = ("a", "b", "y")
HALT_BIT = 0
WALK_WORDS = (
    ("ADDRESS", "address", 32, "Address of the matrix' first byte."),
    ("ROW_STRIDE", "row_stride", 32, "Bytes from a row to the next one, modulo 2**32."),
    ("STEP_STRIDE", "step_stride", 32, "Bytes from a step to the next one, modulo 2**32."),
    ("ROWS", "rows", 16, "Rows, at least 1."),
    ("STEPS", "steps", 16, "Steps, at least 1."),
    ("EXTENT", "extent", 24, "Bytes of a row in a step, less one."),
    ("LAST_EXTENT", "last_extent", 24, "Those of the last step, less one."),
)
"""Register, field of `WalkSettings`, bits, and what it is."""


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
"""They keep what is written, and are not read: it would take as much logic as the walks."""
DMA_REGISTERS: tuple[Register, ...] = (
    Register(
        name="LIST_ADDRESS",
        offset=0x00,
        access="rw",
        doc="Where the list of commands begins; a multiple of 4.",
        fields=whole("address", "Its first byte."),
    ),
    Register(
        name="LIST_EXTENT",
        offset=0x04,
        access="rw",
        doc="How long it is.",
        fields=whole("extent", "Its bytes, a multiple of 4, less one.", 24),
    ),
    Register(
        name="LIST_CONTROL",
        offset=0x08,
        access="wo",
        doc="Commands.",
        fields=(
            Field(name="play", lsb=0, bits=1, doc="Carry out the list; forget done."),
            Field(name="acknowledge", lsb=1, bits=1, doc="Forget done."),
        ),
    ),
    Register(
        name="DMA_STATUS",
        offset=0x0C,
        access="ro",
        doc="State.",
        fields=(
            Field(name="playing", lsb=0, bits=1, doc="A list is carried out."),
            Field(name="done", lsb=1, bits=1, doc="It came to its end."),
            Field(name="a_queued", lsb=2, bits=1, doc="The walk of A waits: its settings must stay."),
            Field(name="b_queued", lsb=3, bits=1, doc="The walk of B waits: its settings must stay."),
            Field(name="y_queued", lsb=4, bits=1, doc="The walk of Y waits: its settings must stay."),
            Field(name="y_busy", lsb=5, bits=1, doc="Results of a walk that was queued are not all in memory."),
            Field(name="resting", lsb=6, bits=1, doc="HALT is 1, and no transfer is under way."),
            Field(name="list_error", lsb=8, bits=3, doc="Why the list was given up: see ListError."),
            Field(name="a_failed", lsb=11, bits=1, doc="Memory answered a read of A with an error."),
            Field(name="b_failed", lsb=12, bits=1, doc="Memory answered a read of B with an error."),
            Field(name="y_failed", lsb=13, bits=1, doc="Memory answered a write of Y with an error."),
            Field(name="list_failed", lsb=14, bits=1, doc="Memory answered a read of the list with an error."),
            Field(name="words", lsb=16, bits=16, doc="Words of the list that were taken."),
        ),
    ),
    Register(
        name="QUEUE",
        offset=0x10,
        access="wo",
        doc="Queue walks with the settings below; each begins once the one before it has.",
        fields=_flags("The walk of {}."),
    ),
    Register(
        name="HALT",
        offset=0x14,
        access="rw",
        doc="Recovery: 1 stops masters and list, drops results and, once DMA_STATUS.resting is 1, forgets all but the "
        "settings; meanwhile clear the engine. 0 goes on.",
        fields=whole("halt", "Stopped.", 1),
    ),
    Register(
        name="DMA_INTERRUPT",
        offset=0x18,
        access="rw",
        doc="What raises irq, beside the engine.",
        fields=(
            Field(name="on_done", lsb=0, bits=1, doc="DMA_STATUS.done."),
            Field(name="on_error", lsb=1, bits=1, doc="A list_error, or a failure."),
        ),
    ),
    *WALK_REGISTERS,
)
