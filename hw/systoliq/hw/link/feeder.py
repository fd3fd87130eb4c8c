"""Feeder of a design's stream of operands: bytes out of the link's memory, as beats."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Beat", "Feeder"]


class Beat(data.StructLayout):
    """The bits of a beat, and whether it is the last of its unit."""

    def __init__(self, beat_bytes: int) -> None:
        super().__init__({"bits": 8 * beat_bytes, "last": 1})


class Feeder(wiring.Component):
    """After ``start`` (for a cycle, while not ``busy``): ``beats`` beats of ``beat_bytes``, ``last`` with the last.

    The first byte in the memory is the lowest of the first beat. The memory shows the byte at ``address``
    ``latency`` cycles after ``read``. A beat takes ``(latency + 1) * beat_bytes`` cycles and one more.
    """

    kind = "feeder"

    def __init__(self, *, beats: int, beat_bytes: int, latency: int) -> None:
        self.beats = beats
        self.beat_bytes = beat_bytes
        self.latency = latency
        super().__init__(
            {
                "start": In(1),
                "busy": Out(1),
                "read": Out(1),
                "address": Out(range(beats * beat_bytes)),
                "data": In(8),
                "o": Out(stream.Signature(Beat(beat_bytes))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        beat = Signal(range(self.beats))
        byte = Signal(range(self.beat_bytes))
        wait = Signal(range(self.latency + 1))
        ends_beat = Signal()
        m.d.comb += [ends_beat.eq(byte == self.beat_bytes - 1), self.o.payload.last.eq(beat == self.beats - 1)]
        with m.FSM() as fsm:
            m.d.comb += self.busy.eq(~fsm.ongoing("IDLE"))
            with m.State("IDLE"):
                m.d.sync += [self.address.eq(0), beat.eq(0), byte.eq(0)]
                with m.If(self.start):
                    m.next = "READ"
            with m.State("READ"):
                m.d.comb += self.read.eq(wait == 0)
                m.d.sync += wait.eq(wait + 1)
                with m.If(wait == self.latency):
                    bits = self.o.payload.bits
                    m.d.sync += [wait.eq(0), bits.eq(Cat(bits, self.data)[8:]), self.address.eq(self.address + 1)]
                    m.d.sync += byte.eq(byte + 1)
                    with m.If(ends_beat):
                        m.d.sync += byte.eq(0)
                        m.next = "OFFER"
            with m.State("OFFER"):
                m.d.comb += self.o.valid.eq(1)
                with m.If(self.o.ready):
                    m.d.sync += beat.eq(beat + 1)
                    m.next = "READ"
                    with m.If(self.o.payload.last):
                        m.next = "IDLE"
        return m
