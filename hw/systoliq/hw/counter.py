"""Counting modulo a number."""

from __future__ import annotations

from amaranth.hdl import Mux, Signal, Value

__all__ = ["successor"]


def successor(counter: Signal, modulus: int) -> Value:
    """``counter + 1`` modulo ``modulus``."""
    return Mux(counter == modulus - 1, 0, counter + 1)
