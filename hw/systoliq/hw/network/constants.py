"""Constants: elements that are the same for every image, as a stream."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Module, Shape, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import Out

from ..counter import count
from ..delay import delay
from ..fifo import Fifo
from ..hierarchy import place
from ..result_buffer import y_beat
from ..rom import Rom
from .credit_pipeline import credit_pipeline

__all__ = ["Constants"]


class Constants(wiring.Component):
    """``elements``, over and over, in beats of ``lanes``, which divide them; ``last`` ends each round.

    A beat leaves in each cycle. Raises ValueError where ``lanes`` are no divisor.
    """

    def __init__(self, elements: Sequence[int], shape: Shape, *, lanes: int, cells: str, kind: str) -> None:
        if len(elements) % lanes:
            raise ValueError(f"lanes must divide the {len(elements)} elements, not {lanes}")
        mask = (1 << shape.width) - 1
        words = [
            sum((element & mask) << shape.width * i for i, element in enumerate(elements[at : at + lanes]))
            for at in range(0, len(elements), lanes)
        ]
        self.rom = Rom(words, shape.width * lanes, cells=cells, kind=f"{kind}_rom")
        self.kind = kind
        self.elements = tuple(elements)
        self.lanes = lanes
        self.fifo = Fifo(y_beat(shape, lanes), depth=16, cells=cells)
        super().__init__({"o": Out(stream.Signature(y_beat(shape, lanes)))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.rom = place(self.rom, platform)
        result = Signal.like(Value.cast(self.fifo.i.payload))
        enters = credit_pipeline(m, platform, [], self.fifo, result, latency=self.rom.latency)
        at = count(m, len(self.rom.words), when=enters, name="at")
        m.d.comb += [
            self.rom.address.eq(at.value),
            result[:-1].eq(self.rom.word),
            result[-1].eq(delay(m, at.last, self.rom.latency, name="last")),
        ]
        wiring.connect(m, self.fifo.o, wiring.flipped(self.o))
        return m
