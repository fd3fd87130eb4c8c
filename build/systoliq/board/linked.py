"""Linked designs: a design behind a serial line, as a component, and the fingerprint that identifies it to a host."""

from __future__ import annotations

import hashlib

from systoliq.hw.link import VERSION, Linked
from systoliq.hw.link.frame_receiver import TIMEOUT_BITS
from systoliq.hw.verilog import Verilog, emit_verilog, files_of

from ..design import Design
from ..errors import LinkError

__all__ = ["LINK_TOP", "check_board", "fingerprint", "linked", "linked_verilog"]

LINK_TOP = "link"
"""The module of a `Linked` in emitted Verilog."""

_BYTES = 8


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


def linked(design: Design, *, timeout_bits: int = TIMEOUT_BITS) -> Linked:
    """The design behind a link; InputError for kinds that have no units of operands."""
    identity = bytes([VERSION]) + fingerprint(design)
    return Linked(design.top, beats=design.unit_beats, identity=identity, cells=design.cells, timeout_bits=timeout_bits)


def linked_verilog(design: Design, *, timeout_bits: int = TIMEOUT_BITS) -> Verilog:
    """Verilog of `linked` as the module `LINK_TOP`."""
    return emit_verilog(linked(design, timeout_bits=timeout_bits), LINK_TOP)
