"""Framing of the serial link: RFC 1662's flags and escapes, its 32-bit check, and the contents of a frame.

A frame lies between flags, 0x7E. Within it a flag or an escape, 0x7D, is sent as an escape and the byte with bit 5
inverted, so that no byte within a frame is a flag: after any disturbance, the next flag ends the frame, and the
following frames are read correctly. That is all that resynchronization takes. COBS does the same with fewer bytes at
the worst, but a sender has to look 254 bytes ahead; here neither side looks ahead. The check is CRC-32, low byte first,
as Ethernet's.

A request holds a sequence number, a `Command` and its operands; the answer the same number, a `Status` and results.
"""

from __future__ import annotations

import enum
import zlib
from collections.abc import Iterator

__all__ = [
    "CHECK_BYTES", "ESCAPE", "FLAG", "HEAD_BYTES", "INVERTED", "VERSION", "Command", "Deframer", "FrameError", "Status",
    "encode", "request",
]  # fmt: skip

FLAG = 0x7E
ESCAPE = 0x7D
INVERTED = 0x20
"""Inverted in a byte behind an escape."""
HEAD_BYTES = 2
CHECK_BYTES = 4
VERSION = 1
"""Version of the protocol; the first byte of the answer to `Command.IDENTIFY`, before the design's fingerprint."""


class Command(enum.IntEnum):
    """Command of a request: identification, or the results of one unit of operands."""

    IDENTIFY = 0
    RUN = 1


class Status(enum.IntEnum):
    """Result of a request. All but OK have no results; the link takes the next frame as if nothing had been.

    LINE: a byte without its stop bit. ABORTED: a flag behind an escape. TIMEOUT: the frame did not continue. BUSY: it
    came before the last answer had left. LENGTH: too short for a frame, or not as long as its command's operands.
    CHECK: its check is wrong. COMMAND: there is no such command.
    """

    OK = 0
    CHECK = 1
    LENGTH = 2
    COMMAND = 3
    TIMEOUT = 4
    LINE = 5
    ABORTED = 6
    BUSY = 7


class FrameError(ValueError):
    """A frame came that is none: too short, aborted, or with a wrong check."""


def encode(content: bytes) -> bytes:
    """The bytes on the line of a frame with ``content``: flag, escaped content and check, flag."""
    checked = content + zlib.crc32(content).to_bytes(CHECK_BYTES, "little")
    line = bytearray([FLAG])
    for byte in checked:
        line += bytes([ESCAPE, byte ^ INVERTED]) if byte in (FLAG, ESCAPE) else bytes([byte])
    line.append(FLAG)
    return bytes(line)


def request(sequence: int, command: int, operands: bytes = b"") -> bytes:
    """The bytes on the line of a request; ``sequence`` is 0 to 255."""
    return encode(bytes([sequence, command]) + operands)


class Deframer:
    """Reads frames from bytes that come in pieces; holds at most ``limit`` bytes of a frame."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = bytearray()
        self._escaped = False

    def feed(self, line: bytes) -> Iterator[bytes | FrameError]:
        """The content of each frame that ends in ``line``, or its error."""
        for byte in line:
            if byte == FLAG:
                if self._held or self._escaped:
                    yield self._end()
                self._held, self._escaped = bytearray(), False
            elif byte == ESCAPE and not self._escaped:
                self._escaped = True
            elif len(self._held) <= self._limit:
                self._held.append(byte ^ INVERTED if self._escaped else byte)
                self._escaped = False

    def _end(self) -> bytes | FrameError:
        content, check = bytes(self._held[:-CHECK_BYTES]), self._held[-CHECK_BYTES:]
        if self._escaped:
            return FrameError("a frame was aborted")
        if len(self._held) > self._limit:
            return FrameError(f"a frame must have at most {self._limit} bytes, and has more")
        if len(self._held) < HEAD_BYTES + CHECK_BYTES:
            return FrameError(f"a frame must have at least {HEAD_BYTES + CHECK_BYTES} bytes, not {len(self._held)}")
        if zlib.crc32(content) != int.from_bytes(check, "little"):
            return FrameError("a frame's check is wrong")
        return content
