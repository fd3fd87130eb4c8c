"""A delay line in memory, for words that wait so long that registers would cost more."""

from __future__ import annotations

from amaranth.hdl import Module, Shape, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .block_ram import SMALL, BlockRam
from .hierarchy import place

__all__ = ["DelayLine"]


class DelayLine(wiring.Component):
    """``o`` shows what ``i`` was ``cycles`` cycles ago, from as many cycles after reset on; `delay` in memory."""

    moves_bits = True

    def __init__(self, shape: object, *, cycles: int, cells: str) -> None:
        if cycles < 2:
            raise ValueError(f"cycles must be at least 2, not {cycles}")
        registered = cycles > SMALL
        latency = BlockRam.latency_of(cells) if registered else 1
        self._behind = cycles - latency  # words from the newest one back to the one to read
        depth = 1 << self._behind.bit_length()
        self._ram = BlockRam(Shape.cast(shape), depth=depth, cells=cells, registered=registered)
        self.kind = f"delay_line_{cycles}x{Shape.cast(shape).width}"
        super().__init__({"i": In(shape), "o": Out(shape)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        ram = self._ram
        m.submodules.ram = place(ram, platform)
        newest = Signal(range(ram.depth))
        oldest = Signal.like(newest, init=ram.depth - self._behind)
        m.d.sync += [newest.eq(newest + 1), oldest.eq(oldest + 1)]
        m.d.comb += [
            ram.write.eq(1),
            ram.write_address.eq(newest),
            ram.write_data.eq(self.i),
            ram.read.eq(1),
            ram.read_address.eq(oldest),
            self.o.eq(ram.read_data),
        ]
        return m
