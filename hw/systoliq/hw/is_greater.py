"""Comparison of numbers by one carry chain."""

from __future__ import annotations

from amaranth.hdl import Cat, Value

__all__ = ["is_greater"]


def is_greater(a: Value, b: Value) -> Value:
    """Return whether `a` is greater than `b`, of the same shape.

    Synthesis compares signed numbers by the last two carries of a subtraction, and ECP5 needs a second carry chain for
    the one in the middle. With their signs exchanged, signed numbers compare like unsigned ones, by the last carry.
    """
    if not a.shape().signed:
        return a > b
    return Cat(a[:-1], b[-1]) > Cat(b[:-1], a[-1])
