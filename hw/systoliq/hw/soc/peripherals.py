"""Peripherals of a system: a UART transmitter, LEDs and an access-fault register, on AXI4-Lite."""

from __future__ import annotations

from amaranth.hdl import Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..engine.axi_lite import AxiLite, axi_lite
from ..hierarchy import place
from ..link.uart_receiver import DIVISOR_BITS
from ..link.uart_transmitter import UartTransmitter
from .ports import join
from .registers import LEDS, SOC_REGISTERS

__all__ = ["ADDRESS_BITS", "Peripherals"]

ADDRESS_BITS = 8


class Peripherals(wiring.Component):
    """`SOC_REGISTERS` behind the AXI4-Lite slave ``s``; ``fault`` marks a cycle in which an access was refused.

    Other addresses answer SLVERR.
    """

    kind = "peripherals"
    namespace = True  # its bus is narrower than the engine's

    def __init__(self, divisor: int) -> None:
        self.divisor = divisor
        super().__init__(axi_lite("s", ADDRESS_BITS) | {"fault": In(1), "tx": Out(1, init=1), "leds": Out(LEDS)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        bus, uart = AxiLite(ADDRESS_BITS), UartTransmitter()
        m.submodules.bus, m.submodules.uart = place(bus, platform), place(uart, platform)
        join(m, bus, "s", self, "s")
        divisor = Signal(DIVISOR_BITS, init=self.divisor)
        leds = Signal(LEDS)
        seen = Signal()
        held: dict[str, Value] = {
            "UART_DATA": Const(0, 1), "UART_STATUS": ~uart.idle, "UART_DIVISOR": divisor, "LEDS": leds, "FAULT": seen
        }  # fmt: skip
        for address, data, known in (
            (bus.write_address, None, bus.write_known),
            (bus.read_address, bus.read_data, bus.read_known),
        ):
            with m.Switch(address):
                for register in SOC_REGISTERS:
                    with m.Case(register.offset):
                        m.d.comb += known.eq(1)
                        if data is not None:
                            m.d.comb += data.eq(held[register.name])
        m.d.comb += [
            *(uart.divisor.eq(divisor), uart.i.payload.eq(bus.write_data), self.tx.eq(uart.tx), self.leds.eq(leds)),
        ]
        with m.If(bus.write), m.Switch(bus.write_address):
            for register in SOC_REGISTERS:
                with m.Case(register.offset):
                    if register.name == "UART_DATA":
                        m.d.comb += uart.i.valid.eq(1)
                    elif register.access == "rw":
                        m.d.sync += held[register.name].eq(bus.write_data)
        with m.If(self.fault):
            m.d.sync += seen.eq(1)
        return m
