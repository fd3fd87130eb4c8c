"""The way out of a memory: words take a step towards the exit whenever the place before them is free."""

from __future__ import annotations

from typing import NamedTuple

from amaranth.hdl import Module, Signal, Value

from .timeline import Steps, Timeline

__all__ = ["MemoryReadout", "memory_readout", "readout_timed"]


class MemoryReadout(NamedTuple):
    """``fetch``: the next word leaves the memory. ``show`` puts the one before into the output register. ``valid``: it
    is there.

    ``read`` enables the memory. It does not wait until a word is available, so it depends on fewer registers; what is
    read without a ``fetch`` is read again.
    """

    fetch: Value
    read: Value
    show: Value
    valid: Value


def memory_readout(m: Module, *, available: Value, ready: Value, latency: int) -> MemoryReadout:
    """Control of a `BlockRam` of that ``latency`` as the source of a stream; ``available``: it has a next word."""
    there = [Signal(name=f"there_{step}") for step in range(latency)]
    moves: list[Value] = [ready]
    for here in reversed(there):
        moves.insert(0, ~here | moves[0])
    comes = available
    for here, move in zip(there, moves[:-1], strict=True):
        with m.If(move):
            m.d.sync += here.eq(comes)
        comes = here
    return MemoryReadout(fetch=available & moves[0], read=moves[0], show=moves[-2], valid=there[-1])


def readout_timed(line: Timeline, fetched: Steps, *, latency: int) -> Steps:
    """Return the words that leave, from those that are ``fetched``."""
    left = line.following(fetched, latency)
    fetched.after(left, 0, lag=latency)
    return left
