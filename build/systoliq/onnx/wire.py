"""Protobuf's wire format, counted before it is parsed: a few bytes of a file can ask for many times the memory."""

from __future__ import annotations

from typing import Any

__all__ = ["count_pieces"]

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FIXED = {_FIXED64: 8, _FIXED32: 4}


def count_pieces(data: bytes, descriptor: Any, limit: int) -> int:
    """Fields in the message `data`, which `descriptor` describes, and in all messages in it; the count stops above
    `limit`. Other contents are counted up to the first unreadable byte; the parser reports the error.
    """
    count, todo = 0, [(0, len(data), descriptor)]
    while todo and count <= limit:
        at, end, kind = todo.pop()
        while at < end and count <= limit:
            count += 1
            tag, at = _varint(data, at, end)
            wire = tag & 7
            if wire == _VARINT:
                _, at = _varint(data, at, end)
            elif wire in _FIXED:
                at += _FIXED[wire]
            elif wire == _BYTES:
                length, at = _varint(data, at, end)
                field = kind.fields_by_number.get(tag >> 3)
                if field is not None and field.message_type is not None:
                    todo.append((at, min(end, at + length), field.message_type))
                at += length
            else:
                break
    return count


def _varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """The number at the place `at`, of at most ten bytes, and the place behind it; the end where it is cut off."""
    value = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    return value, end
