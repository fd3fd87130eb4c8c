"""Pairwise: two streams of images, element by element, by lanes that make one byte of two."""

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
from ..timeline import Steps, Timeline
from .addition import SumOfTables
from .credit_pipeline import credit_depth, credit_pipeline, joined_timed
from .extremum import ExtremumOfTables
from .multiplication import SteppedProduct

__all__ = ["Pairwise"]


class Pairwise(wiring.Component):
    """Results of ``lanes`` for ``i_0`` and ``i_1``, a beat of ``lanes`` codes of ``operand`` per cycle; ``last`` of
    the input ``ending``.

    The lanes are alike, and give codes of ``output``. A constant has a ``last`` of its own, which ends no image.
    """

    def __init__(
        self,
        lanes: Sequence[SumOfTables | ExtremumOfTables | SteppedProduct],
        operand: IntFormat,
        output: IntFormat,
        *,
        ending: int = 0,
        cells: str,
        kind: str,
    ) -> None:
        self.lanes = list(lanes)
        self.ending = ending
        self.latency = lanes[0].latency
        self.kind = kind
        given, made = (y_beat(operand_shape(form), len(lanes)) for form in (operand, output))
        self.fifo = Fifo(made, depth=credit_depth(self.latency), cells=cells)
        super().__init__(
            {
                "i_0": In(stream.Signature(given)),
                "i_1": In(stream.Signature(given)),
                "o": Out(stream.Signature(made)),
            }
        )

    def timed(self, line: Timeline, *taken: Steps | None) -> Steps:
        """Return the beats that leave; an input that is None is always there."""
        sources = [source for source in taken if source is not None]
        return joined_timed(line, sources, self.fifo, latency=self.latency)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        sources = [wiring.flipped(self.i_0), wiring.flipped(self.i_1)]
        last = delay(m, sources[self.ending].payload.last, self.latency, name="last")
        result = Signal.like(Value.cast(self.fifo.i.payload))
        credit_pipeline(m, platform, sources, self.fifo, result, latency=self.latency)
        m.d.comb += result[-1].eq(last)
        for index, lane in enumerate(self.lanes):
            m.submodules[f"lane_{index}"] = place(lane, platform)
            m.d.comb += [
                lane.a.eq(Value.cast(self.i_0.payload.data[index])),
                lane.b.eq(Value.cast(self.i_1.payload.data[index])),
                result[8 * index : 8 * index + 8].eq(lane.y),
            ]
        wiring.connect(m, self.fifo.o, wiring.flipped(self.o))
        return m
