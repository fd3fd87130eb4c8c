"""Ports that the cores of the row unit have in common, and the zero point that they add."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal, Value, signed
from amaranth.lib import data
from amaranth.lib.wiring import In, Member, Out

__all__ = ["core_ports", "zero_point"]


def core_ports(command: data.StructLayout, length: int) -> dict[str, Member]:
    """Return the ports of a core for rows of up to ``length`` elements.

    A row begins with ``take``, where ``complete`` says that the buffer has one; ``done`` ends it. ``read`` asks the
    buffer for the element at ``place``, of the codes up to ``last_place``, whose ``code`` comes some cycles later. A
    result is only begun with ``room``, and takes it: ``begins``. ``valid`` says that ``y`` is one, and ``last`` that it
    ends a row. ``command`` is steady.
    """
    return {
        "command": In(command),
        "last_place": In(range(length)),
        "complete": In(1),
        "take": Out(1),
        "done": Out(1),
        "read": Out(1),
        "place": Out(range(length)),
        "code": In(8),
        "room": In(1),
        "begins": Out(1),
        "valid": Out(1),
        "last": Out(1),
        "y": Out(8),
    }


def zero_point(m: Module, byte: Value, unsigned: Value) -> Signal:
    """Return the zero point ``byte`` as a number, a cycle later."""
    number = Signal(signed(9), name="zero_point", reset_less=True)
    m.d.sync += number.eq(Cat(byte, byte[7] & ~unsigned).as_signed())
    return number
