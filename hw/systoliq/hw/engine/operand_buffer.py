"""Operand buffer: a ring of operand words that can be read while it fills and re-read until released."""

from __future__ import annotations

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

__all__ = ["OperandBuffer"]


class OperandBuffer(wiring.Component):
    """Holds words in the order in which they came; any of them can be read, the oldest can be released.

    ``available`` says whether the word at ``offset`` (0: the oldest) is there; ``read`` fetches it and ``word`` shows
    it from the next cycle until the next read. ``release`` (only while the buffer is not empty) gives up the oldest;
    it may come with a ``read`` of it. A word that comes in can be read ``latency`` cycle later. ``depth`` is a power
    of two.
    """

    latency = 1

    def __init__(self, shape: object, *, depth: int, kind: str) -> None:
        self.depth = depth
        self.kind = kind
        super().__init__(
            {
                "i": In(stream.Signature(shape)),
                "offset": In(range(depth)),
                "available": Out(1),
                "read": In(1),
                "release": In(1),
                "word": Out(shape),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.memory = memory = Memory(shape=self.i.payload.shape(), depth=self.depth, init=[])
        write, read = memory.write_port(), memory.read_port()
        oldest = Signal(range(self.depth))
        newest = Signal(range(self.depth))
        level = Signal(range(self.depth + 1))
        taken = Signal()
        m.d.comb += [
            self.i.ready.eq(level != self.depth),
            taken.eq(self.i.valid & self.i.ready),
            write.en.eq(taken),
            write.addr.eq(newest),
            write.data.eq(self.i.payload),
            self.available.eq(self.offset < level),
            read.en.eq(self.read),
            read.addr.eq((oldest + self.offset)[: len(oldest)]),
            Value.cast(self.word).eq(Value.cast(read.data)),
        ]
        m.d.sync += level.eq(level + taken - self.release)
        with m.If(taken):
            m.d.sync += newest.eq(newest + 1)
        with m.If(self.release):
            m.d.sync += oldest.eq(oldest + 1)
        return m
