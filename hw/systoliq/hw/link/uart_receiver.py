"""Receiver of a serial line: 8 data bits, no parity, a stop bit."""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

__all__ = ["DIVISOR_BITS", "LEAST_DIVISOR", "Received", "UartReceiver"]

DIVISOR_BITS = 16
LEAST_DIVISOR = 4
"""Cycles of a bit that the receiver's samples need at least."""


class Received(data.StructLayout):
    """A byte, and whether it came without its stop bit."""

    def __init__(self) -> None:
        super().__init__({"data": 8, "broken": 1})


class UartReceiver(wiring.Component):
    """Bytes of the line ``rx``, which idles at 1; ``divisor`` cycles a bit, at least `LEAST_DIVISOR`, constant.

    ``valid`` is 1 for a cycle with each ``byte``; nothing holds it back. Bits are sampled in their middle, to the
    cycle. A start bit that is not there in its middle is none. Behind a byte without its stop bit, which a line held at
    0 gives once, the line must be 1 again before the next.
    """

    kind = "uart_receiver"

    def __init__(self) -> None:
        super().__init__({"rx": In(1), "divisor": In(DIVISOR_BITS), "byte": Out(Received()), "valid": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        rx = Signal(init=1)
        m.submodules.synchronizer = FFSynchronizer(self.rx, rx, init=1)
        wait = Signal(DIVISOR_BITS)
        bits = Signal(range(9))
        sampled = Signal(8, reset_less=True)
        here = Signal()
        m.d.comb += here.eq(wait == 0)
        m.d.sync += [self.valid.eq(0), wait.eq(wait - 1)]
        with m.FSM():
            with m.State("IDLE"):
                m.d.sync += [wait.eq((self.divisor >> 1) - 1), bits.eq(8)]
                with m.If(~rx):
                    m.next = "START"
            with m.State("START"), m.If(here):
                m.d.sync += wait.eq(self.divisor - 1)
                m.next = "IDLE"
                with m.If(~rx):
                    m.next = "BITS"
            with m.State("BITS"), m.If(here):
                m.d.sync += [wait.eq(self.divisor - 1), bits.eq(bits - 1)]
                with m.If(bits == 0):
                    m.d.sync += [self.byte.data.eq(sampled), self.byte.broken.eq(~rx), self.valid.eq(1)]
                    m.next = "END"
                with m.Else():
                    m.d.sync += sampled.eq((rx << 7) | (sampled >> 1))
            with m.State("END"), m.If(rx):
                m.next = "IDLE"
        return m
