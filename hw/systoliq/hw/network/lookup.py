"""Lookup: any function of one byte, as its 256 results."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Module, Signal, Value, signed, unsigned
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.formats import IntFormat

from ..delay import delay
from ..hierarchy import place
from ..result_buffer import y_beat
from ..rom import Rom
from .fifo import Fifo
from .steady import steady

__all__ = ["Lookup"]


class Lookup(wiring.Component):
    """``entries``: 256 codes of ``output`` by those of ``operand``, the least first. A beat of ``lanes`` a cycle."""

    def __init__(
        self,
        entries: Sequence[int],
        operand: IntFormat,
        output: IntFormat,
        *,
        lanes: int,
        cells: str,
        kind: str,
    ) -> None:
        by_bits = [int(entries[(code ^ 0x80) if operand.signed else code]) & 0xFF for code in range(256)]
        self.rom = Rom(by_bits, 8, cells=cells, kind=f"{kind}_table")
        self.lanes = lanes
        self.kind = kind
        given, made = (y_beat(signed(8) if form.signed else unsigned(8), lanes) for form in (operand, output))
        self.fifo = Fifo(made, depth=16, cells=cells)
        super().__init__({"i": In(stream.Signature(given)), "o": Out(stream.Signature(made))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        latency = self.rom.latency
        result = Signal.like(Value.cast(self.fifo.i.payload))
        steady(m, platform, [wiring.flipped(self.i)], self.fifo, result, latency=latency)
        m.d.comb += result[-1].eq(delay(m, self.i.payload.last, latency, name="last"))
        for index in range(self.lanes):
            rom = Rom(self.rom.words, 8, cells=self.fifo.cells, kind=self.rom.kind)
            m.submodules[f"table_{index}"] = place(rom, platform)
            m.d.comb += [
                rom.address.eq(Value.cast(self.i.payload.data[index])),
                result[8 * index : 8 * index + 8].eq(rom.word),
            ]
        wiring.connect(m, self.fifo.o, wiring.flipped(self.o))
        return m
