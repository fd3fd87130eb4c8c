"""Addresses of a system, and the registers of its peripherals: the one description of hardware, C and documents."""

from __future__ import annotations

from ..engine.registers import Field, Register, whole
from ..link.uart_receiver import DIVISOR_BITS

__all__ = ["ENGINE_BASE", "LEDS", "PERIPHERALS_BASE", "REGIONS", "REGION_BITS", "SOC_REGISTERS"]

REGION_BITS = 4
"""Upper bits of an address, which select the region."""
PERIPHERALS_BASE = 0x1000_0000
ENGINE_BASE = 0x4000_0000
REGIONS = {"ram": 0, "peripherals": PERIPHERALS_BASE, "engine": ENGINE_BASE}
"""Start of each region."""
LEDS = 8

SOC_REGISTERS: tuple[Register, ...] = (
    Register(
        name="UART_DATA",
        offset=0x00,
        access="wo",
        doc="A byte to send: 8 bits, no parity, one stop bit. While busy it is lost.",
        fields=whole("byte", "The byte.", 8),
    ),
    Register(
        name="UART_STATUS",
        offset=0x04,
        access="ro",
        doc="State of the UART.",
        fields=(Field(name="busy", lsb=0, bits=1, doc="A byte is being sent."),),
    ),
    Register(
        name="UART_DIVISOR",
        offset=0x08,
        access="rw",
        doc="Speed of the UART.",
        fields=whole("cycles", "Cycles of a bit, at least 2.", DIVISOR_BITS),
    ),
    Register(name="LEDS", offset=0x0C, access="rw", doc="LEDs.", fields=whole("on", "A bit for each: 1 is on.", LEDS)),
    Register(
        name="FAULT",
        offset=0x10,
        access="rw",
        doc="Accesses of the processor that were refused; picorv32 does not see it.",
        fields=(Field(name="seen", lsb=0, bits=1, doc="There was one since a 0 was written here."),),
    ),
)
