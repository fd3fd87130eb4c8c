"""Transmitter of frames: content in, bytes of the line out, with flags, escapes and the check."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import crc, data, stream, wiring
from amaranth.lib.crc.catalog import CRC32_ETHERNET
from amaranth.lib.wiring import In, Out

from .framing import CHECK_BYTES, ESCAPE, FLAG, INVERTED

__all__ = ["Content", "FrameTransmitter"]


class Content(data.StructLayout):
    """A byte of a frame, and whether it is the last before the check."""

    def __init__(self) -> None:
        super().__init__({"data": 8, "last": 1})


class FrameTransmitter(wiring.Component):
    """Sends each run of bytes of ``i`` up to one with ``last`` as a frame of ``o``: see `framing`.

    ``idle`` is 1 between frames. A byte of ``i`` is sent on arrival, so a frame takes as long as its content.
    """

    kind = "frame_transmitter"

    def __init__(self) -> None:
        super().__init__({"i": In(stream.Signature(Content())), "o": Out(stream.Signature(8)), "idle": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.check = check = crc.Processor(CRC32_ETHERNET(8))
        raw = Signal(8)
        escaped = Signal()
        special = Signal()
        sent = Signal()  # raw is on its way whole
        index = Signal(range(CHECK_BYTES))
        m.d.comb += [
            special.eq((raw == FLAG) | (raw == ESCAPE)),
            sent.eq(self.o.valid & self.o.ready & (~special | escaped)),
            self.o.payload.eq(Mux(special & ~escaped, ESCAPE, raw ^ Mux(escaped, INVERTED, 0))),
            check.data.eq(raw),
        ]
        with m.FSM() as fsm:
            m.d.comb += self.idle.eq(fsm.ongoing("OPEN"))
            with m.State("OPEN"):
                m.d.comb += [self.o.valid.eq(self.i.valid), self.o.payload.eq(FLAG), check.start.eq(1)]
                with m.If(self.o.valid & self.o.ready):
                    m.next = "CONTENT"
            with m.State("CONTENT"):
                m.d.comb += [
                    raw.eq(self.i.payload.data),
                    self.o.valid.eq(self.i.valid),
                    self.i.ready.eq(sent),
                    check.valid.eq(sent),
                ]
                with m.If(sent & self.i.payload.last):
                    m.next = "CHECK"
            with m.State("CHECK"):
                m.d.comb += [raw.eq(check.crc.word_select(index, 8)), self.o.valid.eq(1)]
                with m.If(sent):
                    m.d.sync += index.eq(index + 1)
                    with m.If(index == CHECK_BYTES - 1):
                        m.next = "CLOSE"
            with m.State("CLOSE"):
                m.d.comb += [self.o.payload.eq(FLAG), self.o.valid.eq(1)]
                with m.If(self.o.ready):
                    m.next = "OPEN"
        with m.If(self.o.valid & self.o.ready & ~(fsm.ongoing("OPEN") | fsm.ongoing("CLOSE"))):
            m.d.sync += escaped.eq(special & ~escaped)
        return m
