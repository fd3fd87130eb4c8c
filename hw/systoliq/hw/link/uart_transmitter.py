"""Transmitter of a serial line: 8 data bits, no parity, a stop bit."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from .uart_receiver import DIVISOR_BITS

__all__ = ["UartTransmitter"]

_FRAME = 10  # bits of a byte on the line: start, 8 of data, stop


class UartTransmitter(wiring.Component):
    """Sends the bytes of ``i`` over the line ``tx``, which idles at 1; ``divisor`` cycles a bit, constant.

    ``idle`` is 1 while the line is at rest, the stop bit of the last byte included in its time.
    """

    kind = "uart_transmitter"

    def __init__(self) -> None:
        super().__init__(
            {"i": In(stream.Signature(8)), "divisor": In(DIVISOR_BITS), "tx": Out(1, init=1), "idle": Out(1)}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        wait = Signal(DIVISOR_BITS)
        left = Signal(range(_FRAME + 1))
        bits = Signal(_FRAME - 1, reset_less=True)
        m.d.comb += [self.idle.eq(left == 0), self.i.ready.eq(self.idle)]
        with m.If(self.idle):
            m.d.sync += wait.eq(self.divisor - 1)
            with m.If(self.i.valid):
                m.d.sync += [self.tx.eq(0), bits.eq(Cat(self.i.payload, Const(1, 1))), left.eq(_FRAME)]
        with m.Elif(wait != 0):
            m.d.sync += wait.eq(wait - 1)
        with m.Else():
            m.d.sync += [wait.eq(self.divisor - 1), left.eq(left - 1), self.tx.eq(bits[0])]
            m.d.sync += bits.eq(Cat(bits[1:], Const(1, 1)))
        return m
