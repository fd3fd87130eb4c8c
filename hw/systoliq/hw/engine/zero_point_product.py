"""The product of a zero point and a sum, as the correction of an accumulator needs it."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..hierarchy import place
from ..lut_product import lut_product, lut_product_latency
from ..multiplier import LIMB_BITS, Multiplier

__all__ = ["ZeroPointProduct"]

_ZERO_POINT_BITS = 8
_TABLES = "ecp5-lut"


class ZeroPointProduct(wiring.Component):
    """``product`` shows ``sum * zero_point`` of ``latency`` cycles ago, modulo 2^32. No reset.

    A vendor's cell that is too narrow for the sum takes its lower bits, and a second one the rest. ``ecp5-lut`` uses no
    cells (`lut_product`). ``pipelined`` is as in `Multiplier`; without it, the multiplier's register is the only one.
    """

    def __init__(self, sum_bits: int, *, cells: str, pipelined: bool = True) -> None:
        self._pipelined = pipelined
        self._in_tables = cells == _TABLES
        self._low_bits = LIMB_BITS.get(cells, sum_bits)
        self.cells = cells
        self.kind = f"zero_point_product_{sum_bits}"
        super().__init__(
            {"sum": In(signed(sum_bits)), "zero_point": In(signed(_ZERO_POINT_BITS)), "product": Out(signed(32))}
        )

    @staticmethod
    def latency_of(cells: str, *, pipelined: bool = True) -> int:
        """Multiplier, [sum of the parts]; or the product in lookup tables."""
        if cells == _TABLES:
            return lut_product_latency(_ZERO_POINT_BITS)
        return Multiplier.latency_of(cells, pipelined=pipelined) + pipelined

    def elaborate(self, platform: object) -> Module:
        m = Module()
        if self._in_tables:
            m.d.comb += self.product.eq(lut_product(m, self.sum, self.zero_point, name="product"))
            return m
        low = self._low_bits
        parts = {"whole": self.sum}
        if len(self.sum) > low:
            parts = {"low": Cat(self.sum[:low], 0).as_signed(), "high": self.sum[low:].as_signed()}
        products = []
        for name, part in parts.items():
            multiplier = Multiplier(len(part), len(self.zero_point), cells=self.cells, pipelined=self._pipelined)
            m.submodules[name] = place(multiplier, platform)
            m.d.comb += [multiplier.a.eq(part), multiplier.b.eq(self.zero_point)]
            products.append(multiplier.product)
        total = products[0] if len(products) == 1 else products[0] + (products[1] << low)
        product = Signal(signed(32), reset_less=True)
        m.d["sync" if self._pipelined else "comb"] += product.eq(total)
        m.d.comb += self.product.eq(product)
        return m
