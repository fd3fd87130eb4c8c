"""Steady: a pipeline without a stall behind streams, and a FIFO that has room for all that is under way."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Const, Module, Signal, Value
from amaranth.lib import stream

from ..credit import Credit
from ..delay import delay
from ..fifo import Fifo
from ..hierarchy import place
from ..timeline import Steps, Timeline

__all__ = ["credit_depth", "credit_pipeline", "credit_pipeline_timed", "enter", "joined_timed"]

_MORE = 4  # results that need room beyond the latency, for full rate


def credit_pipeline(
    m: Module,
    platform: object,
    sources: Sequence[stream.Interface],
    fifo: Fifo,
    result: Value,
    *,
    latency: int,
) -> Signal:
    """Let one beat of each of ``sources`` enter at a time if its ``result`` will find room; returns whether they enter.

    ``result`` is the payload of ``fifo.i``, ``latency`` cycles after the sources' payloads; ``fifo.o`` is the way out.
    Raises ValueError where the FIFO is too shallow to work at full rate.
    """
    there: Value = Const(1, 1)
    for source in sources:
        there = there & source.valid
    enters = enter(m, platform, there, fifo, result, latency=latency)
    m.d.comb += [source.ready.eq(enters) for source in sources]
    return enters


def enter(m: Module, platform: object, available: Value, fifo: Fifo, result: Value, *, latency: int) -> Signal:
    """The same for anything that is ``available``: returns whether it enters."""
    if fifo.depth < latency + _MORE:
        raise ValueError(f"the FIFO must be at least {latency + _MORE} deep, not {fifo.depth}")
    m.submodules.fifo = place(fifo, platform)
    enters = Signal()
    left = Signal()
    m.d.sync += left.eq(fifo.o.valid & fifo.o.ready)
    room = Credit(m, fifo.depth, name="room", full=True, give=left, take=enters)
    m.d.comb += [
        enters.eq(available & room.any),
        fifo.i.valid.eq(delay(m, enters, latency, name="under_way", reset_less=False)),
        Value.cast(fifo.i.payload).eq(result),
    ]
    return enters


def credit_depth(latency: int, *, least: int = 16) -> int:
    """Return a depth of the FIFO, a power of two from ``least`` on, with which `credit_pipeline` works at full rate."""
    return max(least, 1 << (latency + _MORE - 1).bit_length())


def joined_timed(line: Timeline, sources: Sequence[Steps], fifo: Fifo, *, latency: int) -> Steps:
    """Return the beats that leave, where one beat of each of ``sources`` enters at a time."""
    entered = line.steps(len(sources[0]))
    for source in sources:
        entered.after(source, 0)
        source.after(entered, 0)
    return credit_pipeline_timed(line, entered, fifo, latency=latency)


def credit_pipeline_timed(line: Timeline, entered: Steps, fifo: Fifo, *, latency: int) -> Steps:
    """Return the beats that leave, from those that have ``entered``."""
    left = fifo.timed(line, line.following(entered, latency))
    entered.after(left, 2, lag=fifo.depth)  # a register, and the credit's register
    return left
