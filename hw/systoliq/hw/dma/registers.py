"""The registers of the masters: lists of commands, the walks of A, B and Y, and what became of them."""

from __future__ import annotations

from ..engine.registers import Field, Register, whole
from .list_player import ADDRESS_BITS

__all__ = [
    "BASE",
    "DMA_REGISTERS",
    "HALT_BIT",
    "LIST_ENDS",
    "MAP_REGISTERS",
    "OPERANDS",
    "WALK_REGISTERS",
    "WALK_WORDS",
]

BASE = 1 << (ADDRESS_BITS - 1)
"""Address of the first one; the engine's own registers are below."""
OPERANDS = ("a", "b", "y")
HALT_BIT = 0
LIST_ENDS = {"LIST_ADDRESS": 0, "LIST_EXTENT": 3}
"""Of a list's registers, what their lowest two bits must be: a list is of whole words."""
WALK_WORDS = (
    ("ADDRESS", "address", 32, "Address of the matrix' first byte."),
    ("ROW_STRIDE", "row_stride", 32, "Bytes from a row to the next one, modulo 2**32."),
    ("STEP_STRIDE", "step_stride", 32, "Bytes from a step to the next one, modulo 2**32."),
    ("ROWS", "rows", 16, "Rows, at least 1: 0 is refused."),
    ("STEPS", "steps", 16, "Steps, at least 1: 0 is refused."),
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


def _pair(first: str, second: str, bits: int, doc: str, lsb: int = 0) -> tuple[Field, ...]:
    """Two fields of `bits` bits side by side, with {} of `doc` what each is along."""
    return tuple(
        Field(name=name, lsb=lsb + index * bits, bits=bits, doc=doc.format(axis))
        for index, (name, axis) in enumerate([(first, "a line"), (second, "the lines")])
    )


_MAP_WORDS: tuple[tuple[str, str, tuple[Field, ...]], ...] = (
    (
        "LINE_STRIDE",
        "from line to line of windows.",
        whole("line_stride", "Bytes from a line's last window to the first of the next, modulo 2**32."),
    ),
    (
        "IMAGE_STRIDE",
        "from image to image.",
        whole("image_stride", "Bytes from an image's last window to the first of the next, modulo 2**32."),
    ),
    (
        "TAP_STRIDE",
        "from tap to tap.",
        whole("tap_stride", "Bytes from a tap's last step to the first of the next in its line, modulo 2**32."),
    ),
    (
        "TAP_LINE_STRIDE",
        "from line to line of taps.",
        whole("tap_line_stride", "Bytes from the last step of a line of taps to the first of the next, modulo 2**32."),
    ),
    (
        "OUT_SIZE",
        "windows of an image, at least 1 by 1: 0 is refused.",
        _pair("out_width", "out_height", 16, "Windows along {}."),
    ),
    ("MAP_SIZE", "pixels of an image.", _pair("width", "height", 16, "Pixels along {}.")),
    (
        "ORIGIN",
        "the pixel of the first window's first tap.",
        _pair("origin_x", "origin_y", 16, "Where it is along {}, modulo 2**16: negative in the padding."),
    ),
    (
        "TAPS",
        "taps of a window, at least 1 by 1, or refused, and what stands for pixels outside of the image.",
        (
            *_pair("taps_x", "taps_y", 8, "Taps along {}."),
            Field(name="fill", lsb=16, bits=8, doc="Each byte of such a pixel: the zero point of A."),
        ),
    ),
    (
        "PIXELS",
        "pixels from window to window, and from tap to tap.",
        (
            *_pair("stride_x", "stride_y", 8, "Pixels from window to window along {}."),
            *_pair("dilation_x", "dilation_y", 8, "Pixels from tap to tap along {}.", lsb=16),
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
"""With those of A's walk: the fields of `MapSettings`."""
DMA_REGISTERS: tuple[Register, ...] = (
    Register(
        name="LIST_ADDRESS",
        offset=0x00,
        access="rw",
        doc="Where the list of commands begins; what is no multiple of 4 is refused.",
        fields=whole("address", "Its first byte."),
    ),
    Register(
        name="LIST_EXTENT",
        offset=0x04,
        access="rw",
        doc="How long it is; what is not whole words is refused.",
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
        fields=(
            *_flags("The walk of {}."),
            Field(name="map", lsb=3, bits=1, doc="That of A goes over a map: its rows are windows."),
        ),
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
    *MAP_REGISTERS,
)
