"""Counting modulo a number."""

from __future__ import annotations

from typing import NamedTuple

from amaranth.hdl import Module, Mux, Signal, Value

__all__ = ["Count", "count", "successor"]


def successor(counter: Signal, modulus: int) -> Value:
    """``counter + 1`` modulo ``modulus``."""
    return Mux(counter == modulus - 1, 0, counter + 1)


class Count(NamedTuple):
    """A ``value`` that counts modulo a number; ``last``, a register, says that it is the greatest."""

    value: Signal
    last: Signal


def count(m: Module, modulus: int, *, when: Value, name: str) -> Count:
    """Counts the cycles of ``when`` modulo ``modulus``, from 0."""
    value = Signal(range(modulus), name=name)
    last = Signal(name=f"{name}_last", init=modulus == 1)
    if modulus > 1:
        with m.If(when):
            m.d.sync += [value.eq(Mux(last, 0, value + 1)), last.eq(value == modulus - 2)]
    return Count(value, last)
