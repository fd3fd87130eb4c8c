"""The assembler: words of the bus become words of any number of bytes."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ..hierarchy import place
from ..skid_buffer import SkidBuffer
from .realigner import aligned_word
from .transposer import column_word

__all__ = ["Assembler"]


class Assembler(wiring.Component):
    """A run's bytes as words of ``size`` bytes, each from a whole number of words of the bus on.

    A run may hold several words, where ``size`` is a multiple of the bus; a run's last word may be partly filled, and
    its other bytes are undefined. ``last`` marks the word that ends the last run of a walk.
    """

    def __init__(self, bus_bytes: int, size: int) -> None:
        self.bus_bytes = bus_bytes
        self.size = size
        self.kind = f"assembler_{8 * bus_bytes}x{size}"
        super().__init__(
            {"i": In(stream.Signature(aligned_word(bus_bytes))), "o": Out(stream.Signature(column_word(size)))}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        parts = -(-self.size // self.bus_bytes)
        skid = SkidBuffer(self.o.payload.shape(), kind=f"{self.kind}_skid_buffer")
        m.submodules.skid = place(skid, platform)
        wiring.connect(m, skid.o, wiring.flipped(self.o))
        word = self.i.payload
        part = Signal(range(max(parts, 2)))
        held = Signal(8 * self.bus_bytes * max(parts - 1, 1), reset_less=True)
        whole = Signal()
        taken = Signal()
        m.d.comb += [
            whole.eq((part == parts - 1) | word.last),
            self.i.ready.eq(skid.i.ready),
            taken.eq(self.i.valid & self.i.ready),
            skid.i.valid.eq(self.i.valid & whole),
            skid.i.payload.last.eq(word.last & word.mark.last),
        ]
        places = []
        for index in range(parts):
            here = held[8 * self.bus_bytes * index :][: 8 * self.bus_bytes] if index < parts - 1 else Const(0, 0)
            places.append(Mux(part == index, word.data, here) if index < parts - 1 else word.data)
            if index < parts - 1:
                with m.If(taken & (part == index)):
                    m.d.sync += here.eq(word.data)
        m.d.comb += skid.i.payload.data.eq(Cat(places))
        with m.If(taken):
            m.d.sync += part.eq(Mux(whole, 0, part + 1))
        return m
