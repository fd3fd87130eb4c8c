"""A word for a table of the engine, and where it goes."""

from __future__ import annotations

from amaranth.lib import data

__all__ = ["ADDRESS_BITS", "TableWord"]

ADDRESS_BITS = 21
"""Bits of an address of the engine's AXI4-Lite port."""

TableWord = data.StructLayout({"address": ADDRESS_BITS, "word": 32})
"""``word`` is written to ``address``, a multiple of 4: an address of the engine's AXI4-Lite port."""
