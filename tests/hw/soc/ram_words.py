"""Words of a memory."""

from __future__ import annotations


def words(memory, bus):
    return tuple(int.from_bytes(memory[at : at + bus], "little") for at in range(0, len(memory), bus))
