"""Products of bytes less their zero points: in a multiplier, or in lookup tables of ECP5."""

from __future__ import annotations

from collections.abc import Iterable

from amaranth.hdl import Module, Signal, Value, signed

from ..hierarchy import place
from ..lut_product import lut_product, lut_product_latency
from ..multiplier import Multiplier

__all__ = ["centred_product", "centred_product_latency"]

_BITS = 9  # of a byte less its zero point


def centred_product_latency(cells: str) -> int:
    """Cycles of `centred_product`."""
    return 1 + (lut_product_latency(_BITS) if _in_tables(cells) else Multiplier.latency_of(cells))


def centred_product(
    m: Module, operands: Iterable[tuple[str, Value, int]], *, cells: str, platform: object, suffix: str = ""
) -> Value:
    """The product of two operands, each a name, a byte and its zero point, `centred_product_latency` cycles later.

    ``suffix`` ends the names of the parts: one for each product of a module.
    """
    factors = []
    for name, byte, zero_point in operands:
        factor = Signal(signed(_BITS), name=f"{name}_centred", reset_less=True)
        m.d.sync += factor.eq(byte - zero_point)
        factors.append(factor)
    if _in_tables(cells):
        return lut_product(m, *factors, name=f"tables{suffix}").as_signed()
    multiplier = Multiplier(_BITS, _BITS, cells=cells)
    m.submodules[f"multiplier{suffix}"] = place(multiplier, platform)
    m.d.comb += [multiplier.a.eq(factors[0]), multiplier.b.eq(factors[1])]
    return multiplier.product


def _in_tables(cells: str) -> bool:
    return cells == "ecp5-lut"
