"""Map of memory of a compiled model: working buffers of steps, then constant data: weights and lists.

A working buffer has its place from the step that fills it to the last step that needs it; then other buffers may use
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ...errors import InputError

__all__ = ["ADDRESSES", "ALIGNMENT", "Buffer", "Role", "Room", "aligned", "check_base", "check_size", "place_rooms"]

ALIGNMENT = 64  # bytes: a line of most caches, and whole beats of every bus
Role = Literal["list", "a", "b", "y", "scratch"]
ADDRESSES = 1 << 32


@dataclass(frozen=True, kw_only=True)
class Buffer:
    """Bytes of memory: `rows` of `row_bytes` each, `stride` apart; for A, B or Y of a step, its list, or
    what only its own commands read.

    A buffer is in use from step `first` to step `last`; a `kept` buffer is always in use, and its contents never
    change.
    """

    name: str
    role: Role
    address: int
    rows: int
    row_bytes: int
    stride: int
    first: int
    last: int
    kept: bool = False

    @property
    def size(self) -> int:
        """Bytes from its first one to its last."""
        return (self.rows - 1) * self.stride + self.row_bytes

    def facts(self) -> dict[str, Any]:
        """Ready for JSON."""
        facts = {name: getattr(self, name) for name in ("name", "role", "address", "size", "rows", "row_bytes")}
        return facts | {"stride": self.stride, "kept": self.kept, "steps": [self.first, self.last]}


@dataclass(frozen=True, kw_only=True)
class Room:
    """`size` bytes that are in use from step `first` to step `last`."""

    size: int
    first: int
    last: int

    def meets(self, other: Room) -> bool:
        """True if both are in use in a common step."""
        return self.first <= other.last and other.first <= self.last


def place_rooms(rooms: Sequence[Room]) -> tuple[list[int], int]:
    """Offset of each of `rooms`, aligned, such that no two of them that meet overlap; and the bytes of all.

    The largest come first, each at the lowest offset that is free.
    """
    offsets = [0] * len(rooms)
    done: list[int] = []
    for index in sorted(range(len(rooms)), key=lambda each: -rooms[each].size):
        room, at = rooms[index], 0
        for other in sorted((each for each in done if rooms[each].meets(room)), key=lambda each: offsets[each]):
            if at + room.size <= offsets[other]:
                break
            at = max(at, aligned(offsets[other] + rooms[other].size))
        offsets[index] = at
        done.append(index)
    return offsets, aligned(max((at + room.size for at, room in zip(offsets, rooms, strict=True)), default=0))


def aligned(size: int) -> int:
    """`size` or the next multiple of `ALIGNMENT`."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def check_base(base: int) -> None:
    """InputError where buffers from `base` on would not be aligned."""
    if base < 0 or base % ALIGNMENT:
        raise InputError(f"base must be a multiple of {ALIGNMENT}, not {base}")


def check_size(base: int, size: int, memory: int | None, what: str) -> None:
    """InputError where `what` takes more than `memory` bytes, or addresses beyond 32 bits from `base` on."""
    if memory is not None and size > memory:
        raise InputError(f"memory must be at least {size} bytes for {what}, not {memory}")
    if base + size > ADDRESSES:
        raise InputError(f"base must leave {size} bytes below 2^32 for {what}, and is 0x{base:x}")
