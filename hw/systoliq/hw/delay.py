"""Delay lines: registers that hold a value back by a number of cycles."""

from __future__ import annotations

from amaranth.hdl import Module, Signal, Value

__all__ = ["delay"]


def delay(m: Module, value: Value, cycles: int, *, name: str, reset_less: bool = True) -> Value:
    """``value`` as it was ``cycles`` clock cycles ago (``value`` itself for 0).

    Data registers need no reset. Control tokens must be forgotten by one: pass ``reset_less=False`` for them.
    """
    if cycles < 0:
        raise ValueError(
            f"cycles of the delay {name!r} must be at least 0, not {cycles}: what is asked for is not there yet"
        )
    for stage in range(cycles):
        register = Signal(value.shape(), name=f"{name}_{stage + 1}", reset_less=reset_less)
        m.d.sync += register.eq(value)
        value = register
    return value
