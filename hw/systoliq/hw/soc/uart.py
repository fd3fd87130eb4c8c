"""The transmitter of a UART: 8 bits, no parity, one stop bit."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .registers import DIVIDER_BITS

__all__ = ["UartTransmitter"]

_BITS = 10  # of a byte: a start bit, 8 bits, a stop bit


class UartTransmitter(wiring.Component):
    """``start``, while not ``busy``, sends ``byte``, its lowest bit first; a bit takes ``divider`` + 1 cycles."""

    kind = "uart"

    def __init__(self) -> None:
        super().__init__(
            {"start": In(1), "byte": In(8), "divider": In(DIVIDER_BITS), "busy": Out(1), "tx": Out(1, init=1)}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shift, left, cycles = Signal(_BITS - 1, reset_less=True), Signal(range(_BITS + 1)), Signal(DIVIDER_BITS)
        m.d.comb += self.busy.eq(left != 0)
        with m.If(self.start & ~self.busy):
            m.d.sync += [
                *(self.tx.eq(0), shift.eq(Cat(self.byte, Const(1, 1)))),
                *(left.eq(_BITS), cycles.eq(self.divider)),
            ]
        with m.Elif(cycles != 0):
            m.d.sync += cycles.eq(cycles - 1)
        with m.Elif(self.busy):
            m.d.sync += [
                *(self.tx.eq(shift[0]), shift.eq(Cat(shift[1:], Const(1, 1)))),
                *(left.eq(left - 1), cycles.eq(self.divider)),
            ]
        return m
