"""Bits of a value that depend on data, as `dataflow` counts them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CLEAN", "Bits", "carried", "computed"]


@dataclass(frozen=True)
class Bits:
    """Which bits of a value depend on `data`, and which of these are `computed`, as masks."""

    data: int = 0
    computed: int = 0

    def __or__(self, other: Bits) -> Bits:
        return Bits(self.data | other.data, self.computed | other.computed)

    def cut(self, low: int, width: int) -> Bits:
        """Bits `low` and up."""
        mask = (1 << width) - 1
        return Bits(self.data >> low & mask, self.computed >> low & mask)

    def at(self, low: int) -> Bits:
        """The same bits, `low` places up."""
        return Bits(self.data << low, self.computed << low)


CLEAN = Bits()
"""No bit depends on data."""


def computed(width: int) -> Bits:
    """Return `width` bits that are all computed from data."""
    mask = (1 << width) - 1
    return Bits(mask, mask)


def carried(bits: Bits, width: int) -> Bits:
    """Return the bits of a sum: all from the lowest one that depends on data are computed."""
    if not bits.data:
        return CLEAN
    above = (1 << width) - (bits.data & -bits.data)
    return Bits(above, above)
