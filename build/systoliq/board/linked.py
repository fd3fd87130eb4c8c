"""Linked designs: a design behind a serial line, as a component, the fingerprint that identifies it to a host, and the
rate of the line.
"""

from __future__ import annotations

import hashlib
import math

from systoliq.hw.link import VERSION, Linked
from systoliq.hw.link.frame_receiver import TIMEOUT_BITS
from systoliq.hw.link.uart_receiver import DIVISOR_BITS, LEAST_DIVISOR
from systoliq.hw.verilog import Verilog, emit_verilog, files_of

from ..design import Design
from ..errors import InputError, LinkError

__all__ = ["LINK_TOP", "check_board", "fingerprint", "line_divisor", "linked", "linked_verilog"]

LINK_TOP = "link"
"""The module of a `Linked` in emitted Verilog."""

_BYTES = 8
_LINE_TOLERANCE = 0.02  # half of the receiver's tolerance (tests/hw/link/test_uart_receiver.py), the rest for the host


def fingerprint(design: Design) -> bytes:
    """Bytes that name the design: two of the same weights, hardware and version of systoliq have the same."""
    digest = hashlib.sha256(design.verilog.encode())
    for name, content in sorted(files_of(design.verilog).items()):
        digest.update(name.encode() + content)
    return digest.digest()[:_BYTES]


def check_board(design: Design, held: bytes) -> None:
    """Raise LinkError if `held`, the fingerprint that a board gives, is not the fingerprint of `design`."""
    if (made := fingerprint(design)) != held:
        raise LinkError(
            f"the board must hold the design with fingerprint {made.hex()}, and holds {held.hex()}: give the SOURCE, "
            "options or package that its bitstream was made with"
        )


def line_divisor(hz: float, baud: int) -> int:
    """Return the cycles of a bit of a line of `baud` at a clock of `hz`; InputError if the link cannot have them."""
    divisor = round(hz / baud) if baud else 0
    if not LEAST_DIVISOR <= divisor < 1 << DIVISOR_BITS:
        limits = f"{math.ceil(hz / ((1 << DIVISOR_BITS) - 1))} to {math.floor(hz / LEAST_DIVISOR)}"
        raise InputError(f"baud must be {limits} at {hz / 1e6:.3f} MHz, not {baud}")
    if abs(hz / divisor / baud - 1) > _LINE_TOLERANCE:
        raise InputError(
            f"baud must be within {_LINE_TOLERANCE:.0%} of {hz / 1e6:.3f} MHz divided by a whole number, as "
            f"{hz / divisor:.0f} is, not {baud}"
        )
    return divisor


def linked(design: Design, *, timeout_bits: int = TIMEOUT_BITS) -> Linked:
    """The design behind a link; InputError for kinds that have no units of operands."""
    identity = bytes([VERSION]) + fingerprint(design)
    return Linked(design.top, beats=design.unit_beats, identity=identity, cells=design.cells, timeout_bits=timeout_bits)


def linked_verilog(design: Design, *, timeout_bits: int = TIMEOUT_BITS) -> Verilog:
    """Verilog of `linked` as the module `LINK_TOP`."""
    return emit_verilog(linked(design, timeout_bits=timeout_bits), LINK_TOP)
