"""A board in Python, by RFC 1662's words and zlib, that answers over a line with faults drawn at random."""

from __future__ import annotations

import random
import zlib

FLAG, ESCAPE = 0x7E, 0x7D


def frame(content: bytes) -> bytes:
    """The bytes of a frame."""
    held = content + zlib.crc32(content).to_bytes(4, "little")
    escaped = b"".join(bytes([ESCAPE, b ^ 0x20]) if b in (FLAG, ESCAPE) else bytes([b]) for b in held)
    return bytes([FLAG]) + escaped + bytes([FLAG])


def contents(line: bytes) -> list[bytes]:
    """What whole and right frames among the bytes of a line hold."""
    found = []
    for part in line.split(bytes([FLAG]))[1:-1]:
        held, escape = bytearray(), False
        for byte in part:
            if byte == ESCAPE and not escape:
                escape = True
                continue
            held.append(byte ^ 0x20 if escape else byte)
            escape = False
        if len(held) >= 6 and not escape and zlib.crc32(held[:-4]) == int.from_bytes(held[-4:], "little"):
            found.append(bytes(held[:-4]))
    return found


def corrupted(line: bytes, rng: random.Random) -> bytes:
    """`line` with a fault: bits flipped, bytes lost, put in, repeated or exchanged, its begin or its end cut off."""
    broken = bytearray(line)
    at = rng.randrange(len(broken))
    fault = rng.choice(["flip", "burst", "drop", "insert", "repeat", "swap", "end", "begin", "flag", "escape"])
    if fault == "flip":
        broken[at] ^= 1 << rng.randrange(8)
    elif fault == "burst":
        for index in range(at, min(at + 4, len(broken))):
            broken[index] ^= rng.randrange(256)
    elif fault == "drop":
        del broken[at : at + rng.choice([1, 1, 2, 5])]
    elif fault == "insert":
        broken[at:at] = rng.randbytes(rng.choice([1, 1, 2, 30]))
    elif fault == "repeat":
        broken[at:at] = broken[at : at + 3]
    elif fault == "swap":
        other = rng.randrange(len(broken))
        broken[at], broken[other] = broken[other], broken[at]
    elif fault == "end":
        del broken[at:]
    elif fault == "begin":
        del broken[:at]
    else:
        broken[at:at] = bytes([FLAG if fault == "flag" else ESCAPE])
    return bytes(broken)


class FakeBoard:
    """A line to a board whose answer to operands is `answer(operands)`; `harm` may change what goes either way."""

    baud = 115200

    def __init__(self, answer, *, harm=lambda line: line, harm_answer=lambda line: line, identity=b"\x01someones"):
        self.answer, self.harm, self.harm_answer, self.identity = answer, harm, harm_answer, identity
        self.waiting = b""
        self.held = b""

    def write(self, content: bytes, seconds: float) -> None:
        """A request, which is answered at once."""
        for found in contents(self.harm(content)):
            sequence, command, operands = found[0], found[1], found[2:]
            results = self.identity if command == 0 else self.answer(operands)
            status = 0 if results is not None and command < 2 else 2
            self.waiting += self.harm_answer(frame(bytes([sequence, status]) + (results if status == 0 else b"")))

    def read(self, seconds: float) -> bytes:
        """Some of what waits."""
        found, self.waiting = self.waiting[:5], self.waiting[5:]
        return found
