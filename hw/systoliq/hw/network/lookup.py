"""Lookup: any function of one byte, as its 256 results."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.formats import IntFormat

from ..delay import delay
from ..fifo import Fifo
from ..hierarchy import place
from ..operand_shape import operand_shape
from ..result_buffer import y_beat
from ..rom import Rom
from ..timeline import Steps, Timeline
from .credit_pipeline import credit_pipeline, credit_pipeline_timed

__all__ = ["Lookup", "by_bits"]


def by_bits(entries: Sequence[int], operand: IntFormat) -> list[int]:
    """256 ``entries`` by the bits of an operand's codes, given by its codes, the least first."""
    return [entries[(bits ^ 0x80) if operand.signed else bits] for bits in range(256)]


class Lookup(wiring.Component):
    """``entries``: 256 codes of ``output``, in the order of ``operand``'s codes from the least. A beat of ``lanes`` a
    cycle.
    """

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
        words = [int(entry) & 0xFF for entry in by_bits(entries, operand)]
        self.rom = Rom(words, 8, cells=cells, kind=f"{kind}_table")
        self.lanes = lanes
        self.kind = kind
        given, made = (y_beat(operand_shape(form), lanes) for form in (operand, output))
        self.fifo = Fifo(made, depth=16, cells=cells)
        super().__init__({"i": In(stream.Signature(given)), "o": Out(stream.Signature(made))})

    def timed(self, line: Timeline, taken: Steps) -> Steps:
        """Return the beats that leave."""
        return credit_pipeline_timed(line, taken, self.fifo, latency=self.rom.latency)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        latency = self.rom.latency
        result = Signal.like(Value.cast(self.fifo.i.payload))
        credit_pipeline(m, platform, [wiring.flipped(self.i)], self.fifo, result, latency=latency)
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
