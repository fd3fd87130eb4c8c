"""Constant tables: one number per index, in the cheapest form that gives it."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Const, Module, Shape, Signal, Value

__all__ = ["table"]


def table(m: Module, index: Value, values: Sequence[int], shape: Shape, *, name: str) -> Value:
    """``values[index]``, combinational: a constant where all values are equal, else a case statement."""
    if len(set(values)) == 1:
        return Const(values[0], shape)
    entry = Signal(shape, name=name)
    with m.Switch(index):
        for i, value in enumerate(values):
            with m.Case(i):
                m.d.comb += entry.eq(Const(value, shape))
    return entry
