"""Gearbox: a stream in beats of one width as a stream in beats of another."""

from __future__ import annotations

import numpy as np
from amaranth.hdl import Module, Shape, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ..counter import count
from ..result_buffer import y_beat
from ..timeline import Steps, Timeline

__all__ = ["Gearbox"]


class Gearbox(wiring.Component):
    """Takes beats of ``of`` elements and gives the same elements in beats of ``to``; one divides the other.

    ``last`` is copied from the beat that held the last element. At full rate on the wider side's terms neither side
    waits.

    Raises ValueError where neither width divides the other.
    """

    moves_bits = True

    def __init__(self, shape: Shape, *, of: int, to: int) -> None:
        if max(of, to) % min(of, to):
            raise ValueError(f"one width must divide the other, not {of} and {to}")
        self.of = of
        self.to = to
        self.kind = f"gearbox_{of}_to_{to}_of_{shape.width}"
        super().__init__({"i": In(stream.Signature(y_beat(shape, of))), "o": Out(stream.Signature(y_beat(shape, to)))})

    def timed(self, line: Timeline, taken: Steps) -> Steps:
        """Return the beats that leave."""
        if self.of == self.to:
            return taken
        made = line.steps(len(taken) * self.of // self.to)
        if self.of > self.to:
            parts, wide = self.of // self.to, np.arange(len(taken))
            made.after_some(taken, 1, np.arange(len(made)) // parts)
            taken.after_some(made, 0, wide * parts - 1)
        else:
            parts, part = self.to // self.of, np.arange(len(taken))
            made.after_some(taken, 1, np.arange(len(made)) * parts + parts - 1)
            taken.after_some(made, 0, part // parts - 1)
        return made

    def elaborate(self, platform: object) -> Module:
        m = Module()
        if self.of == self.to:
            m.d.comb += [
                Value.cast(self.o.payload).eq(Value.cast(self.i.payload)),
                self.o.valid.eq(self.i.valid),
                self.i.ready.eq(self.o.ready),
            ]
        elif self.of > self.to:
            self._split(m)
        else:
            self._collect(m)
        return m

    def _split(self, m: Module) -> None:
        """A register of the wide beat, which moves down."""
        given = Value.cast(self.i.payload.data)
        rest = Signal.like(given, name="rest", reset_less=True)
        last = Signal(reset_less=True)
        there = Signal()
        leaves = there & self.o.ready
        part = count(m, self.of // self.to, when=leaves, name="part")
        m.d.comb += [
            self.i.ready.eq(~there | (self.o.ready & part.last)),
            self.o.valid.eq(there),
            Value.cast(self.o.payload.data).eq(rest[: len(Value.cast(self.o.payload.data))]),
            self.o.payload.last.eq(last & part.last),
        ]
        with m.If(self.i.ready):  # also without a beat, which many registers would wait for
            m.d.sync += [rest.eq(given), last.eq(self.i.payload.last), there.eq(self.i.valid)]
        with m.Elif(self.o.ready):
            m.d.sync += rest.eq(rest[len(Value.cast(self.o.payload.data)) :])

    def _collect(self, m: Module) -> None:
        """A register of the wide beat, which is filled part by part."""
        given = Value.cast(self.i.payload.data)
        wide = Value.cast(self.o.payload.data)
        held = Signal.like(wide, name="held", reset_less=True)
        last = Signal(reset_less=True)
        full = Signal()
        comes = self.i.valid & self.i.ready
        part = count(m, self.to // self.of, when=comes, name="part")
        m.d.comb += [
            self.i.ready.eq(~full | self.o.ready),
            self.o.valid.eq(full),
            wide.eq(held),
            self.o.payload.last.eq(last),
        ]
        with m.If(self.i.ready):  # also without a beat, which many registers would wait for: the next one comes over it
            m.d.sync += [full.eq(self.i.valid & part.last), last.eq(self.i.payload.last)]
            for index in range(self.to // self.of):
                with m.If(part.value == index):
                    m.d.sync += held[index * len(given) :][: len(given)].eq(given)
