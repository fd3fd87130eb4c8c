"""Rotation of a word by a number of units that is known at run time."""

from __future__ import annotations

from amaranth.hdl import Cat, Mux, Value

__all__ = ["rotate"]


def rotate(word: Value, count: Value, unit: int) -> Value:
    """``word`` turned right, towards its lowest bits, by ``count`` times ``unit`` bits: a multiplexer a bit of it."""
    for bit in range(len(count)):
        shift = unit << bit
        word = Mux(count[bit], Cat(word[shift:], word[:shift]), word)
    return word
