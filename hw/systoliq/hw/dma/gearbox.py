"""The gearbox: beats of one width without gaps become words of another, both powers of two."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Gearbox", "dense_beat"]


def dense_beat(size: int) -> data.StructLayout:
    """``size`` bytes with ``keep``, one bit each: all ones, or in the ``last`` beat of a frame ones for the lowest."""
    return data.StructLayout({"data": 8 * size, "keep": size, "last": 1})


class Gearbox(wiring.Component):
    """A frame's bytes in words of ``o_size`` bytes; the last word of a frame may be short, and its other bytes are
    undefined.

    The narrower of the two sides moves a beat a cycle.
    """

    def __init__(self, i_size: int, o_size: int) -> None:
        for name, size in (("i_size", i_size), ("o_size", o_size)):
            if size & (size - 1):
                raise ValueError(f"{name} must be a power of two, not {size!r}")
        self.i_size = i_size
        self.o_size = o_size
        self.kind = f"gearbox_{8 * i_size}x{8 * o_size}"
        super().__init__({"i": In(stream.Signature(dense_beat(i_size))), "o": Out(stream.Signature(8 * o_size))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        if self.i_size > self.o_size:
            self._cut(m)
        else:
            self._gather(m)
        return m

    def _cut(self, m: Module) -> None:
        """A beat is held while its parts leave."""
        parts, bits = self.i_size // self.o_size, 8 * self.o_size
        beat = self.i.payload
        left = Signal(8 * self.i_size, reset_less=True)
        there = Signal(parts)  # the parts that have not left, from the lowest bit up
        only = ~there[1]
        m.d.comb += [
            self.o.valid.eq(there[0]),
            self.o.payload.eq(left[:bits]),
            self.i.ready.eq(~there[0] | (self.o.ready & only)),
        ]
        with m.If(self.i.ready):
            m.d.sync += left.eq(beat.data)
            keeps = Cat(beat.keep[index * self.o_size] for index in range(parts))
            m.d.sync += there.eq(Mux(self.i.valid, keeps, 0))
        with m.Elif(self.o.ready):
            m.d.sync += [left.eq(left >> bits), there.eq(there >> 1)]

    def _gather(self, m: Module) -> None:
        """Parts come into their places; the word is offered once it is full, or its frame has ended."""
        parts, bits = self.o_size // self.i_size, 8 * self.i_size
        beat = self.i.payload
        word = Signal(8 * self.o_size, reset_less=True)
        offers = Signal()
        part = Signal(range(max(parts, 2)))
        full = (part == parts - 1) | beat.last
        m.d.comb += [
            self.o.valid.eq(offers),
            self.o.payload.eq(word),
            self.i.ready.eq(~offers | self.o.ready),
        ]
        with m.If(self.i.ready):
            m.d.sync += offers.eq(self.i.valid & full)
            with m.If(self.i.valid):
                m.d.sync += part.eq(Mux(full, 0, part + 1))
                for index in range(parts):
                    with m.If(part == index):
                        m.d.sync += word[bits * index :][:bits].eq(beat.data)
